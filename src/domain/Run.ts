/**
 * One execution of a review for one head.
 *
 * ```
 * queued ──▶ preparing ──▶ analyzing ──▶ publishing ──▶ succeeded
 *    │           │             │             ├────────▶ failed
 *    │           ├─────────────┤             └────────▶ skipped (head moved on before anything was published)
 *    │           ├──▶ failed   ├──▶ failed | timeout
 *    ├───────────┴──▶ cancelled | skipped
 * ```
 * A run enters `publishing` in the transaction that stores the findings and the outbox rows; from there on no model is called. It enters
 * it from preparing if the records were unavailable when the analysis began. preparing and analyzing return to preparing when another
 * worker continues a lost worker's run, and to queued while the host is unavailable: `queued` lasts from the first claim until the subject
 * of the review is loaded from the host.
 */
import { Schema } from "effect"
import { makeLifecycle } from "./Lifecycle.ts"

export const RunStatus = Schema.Literals([
  "queued",
  "preparing",
  "analyzing",
  "publishing",
  "succeeded",
  "failed",
  "timeout",
  "cancelled",
  "skipped"
])
export type RunStatus = typeof RunStatus.Type

export const runLifecycle = makeLifecycle<RunStatus>(RunStatus.literals, {
  queued: ["queued", "preparing", "cancelled", "skipped", "failed"],
  preparing: ["queued", "preparing", "analyzing", "publishing", "failed", "timeout", "cancelled", "skipped"],
  analyzing: ["queued", "preparing", "publishing", "failed", "timeout", "cancelled", "skipped"],
  publishing: ["succeeded", "failed", "cancelled", "skipped"],
  succeeded: [],
  failed: [],
  timeout: [],
  cancelled: [],
  skipped: []
})
