/** Checks of `aicr doctor` in addition to those of the configuration: this build, and the real hosts. Wiring only. */
import { Effect } from "effect"
import type { Snapshot } from "../config/Snapshot.ts"
import { reportAccess } from "../forge/Access.ts"
import { Forges } from "../forge/Forges.ts"

export { buildProblems } from "./BuildProblems.ts"

export const hostAccess = (snapshot: Snapshot) => Effect.provide(reportAccess(snapshot), Forges.layer)
