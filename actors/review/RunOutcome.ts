/** Outcome of a review. */
import type { Reason } from "../../src/domain/Reason.ts"

export type RunOutcome =
  | { readonly _tag: "Reviewed"; readonly runId: string }
  | { readonly _tag: "Skipped"; readonly runId?: string | undefined; readonly reason: Reason }
  | {
      readonly _tag: "Failed"
      readonly runId: string | undefined
      readonly reason: Reason
      readonly retryable: boolean
      readonly notBefore?: number | undefined
    }
  /** Waits for the host or the records, or as the automatic review with this priority. This costs no attempt. */
  | {
      readonly _tag: "Waiting"
      readonly reason: Reason
      readonly until: number
      readonly priority?: number | undefined
    }
  | { readonly _tag: "Cancelled"; readonly reason: Reason }
  | { readonly _tag: "Released" }

export const skipped = (reason: Reason, runId?: string): RunOutcome => ({ _tag: "Skipped", runId, reason })
export const reviewed = (runId: string): RunOutcome => ({ _tag: "Reviewed", runId })
export const failed = (reason: Reason, retryable: boolean, notBefore?: number, runId?: string): RunOutcome => ({
  _tag: "Failed",
  runId,
  reason,
  retryable,
  notBefore
})
