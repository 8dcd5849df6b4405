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

const next: Record<RunStatus, ReadonlyArray<RunStatus>> = {
  queued: ["queued", "preparing", "cancelled", "skipped", "failed"],
  preparing: ["queued", "preparing", "analyzing", "publishing", "failed", "timeout", "cancelled", "skipped"],
  analyzing: ["queued", "preparing", "publishing", "failed", "timeout", "cancelled", "skipped"],
  publishing: ["succeeded", "failed", "cancelled", "skipped"],
  succeeded: [],
  failed: [],
  timeout: [],
  cancelled: [],
  skipped: []
}

export const isTerminal = (status: RunStatus): boolean => next[status].length === 0
/** Returns the states from which `to` may be entered, for the WHERE clause of a compare-and-set update. */
export const listSources = (to: RunStatus): ReadonlyArray<RunStatus> =>
  RunStatus.literals.filter((from) => next[from].includes(to))
