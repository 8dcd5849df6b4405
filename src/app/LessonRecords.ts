/** Records of a configuration for `aicr memory`: the service caches no lessons. Wiring only. */
import type { OnLessons } from "../cli/MemoryCommand.ts"
import { onRecords } from "./OpenRecords.ts"

export const onLessons: OnLessons = onRecords
