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
 * `publishing` is entered in the transaction that stores the findings and the outbox rows: from there on no model is asked
 * again. preparing and analyzing may go back to preparing when a lost worker's run is taken up again.
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
  queued: ["preparing", "cancelled", "skipped", "failed"],
  preparing: ["preparing", "analyzing", "failed", "timeout", "cancelled", "skipped"],
  analyzing: ["preparing", "publishing", "failed", "timeout", "cancelled", "skipped"],
  publishing: ["succeeded", "failed", "cancelled", "skipped"],
  succeeded: [],
  failed: [],
  timeout: [],
  cancelled: [],
  skipped: []
}

export const isTerminal = (status: RunStatus): boolean => next[status].length === 0
/** The states from which `to` may be entered; what a compare-and-set update names in its WHERE clause. */
export const sourcesOf = (to: RunStatus): ReadonlyArray<RunStatus> =>
  RunStatus.literals.filter((from) => next[from].includes(to))
