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
 * again; from preparing as well, where the records were unavailable when the analysis began. preparing and analyzing may go back to preparing
 * when a lost worker's run is taken up again, and to queued while the host is unavailable: `queued` is from the first claim on, until the
 * host has said what there is to review.
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

/** Reason of a run that ended because nobody works on it any more; a later attempt at the review is another run. */
export const lostReason = "its process ended before the analysis was stored"

/** Reason of a run that was cancelled because its head no longer exists. */
export const replacedReason = "the head was replaced by a force push"

export const isTerminal = (status: RunStatus): boolean => next[status].length === 0
/** The states from which `to` may be entered; what a compare-and-set update names in its WHERE clause. */
export const sourcesOf = (to: RunStatus): ReadonlyArray<RunStatus> =>
  RunStatus.literals.filter((from) => next[from].includes(to))
