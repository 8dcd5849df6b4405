/** Records of a configuration for `aicr memory` and `aicr rules health`: the service caches neither. Wiring only. */
import type { OnLessons } from "../cli/MemoryCommand.ts"
import type { OnRules } from "../cli/RulesCommand.ts"
import { onRecords } from "./OpenRecords.ts"

export const onLessons: OnLessons = onRecords

export const onRules: OnRules = onRecords
