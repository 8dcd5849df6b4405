/** What `aicr doctor` asks, besides the configuration: this build, and the real hosts. Wiring only. */
import { Effect } from "effect"
import type { Snapshot } from "../config/Snapshot.ts"
import { accessReports } from "../forge/Access.ts"
import { Forges } from "../forge/Forges.ts"

export { buildProblems } from "./BuildProblems.ts"

export const hostAccess = (snapshot: Snapshot) => Effect.provide(accessReports(snapshot), Forges.layer)
