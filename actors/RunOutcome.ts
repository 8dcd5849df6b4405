/** Outcome of a review. */
export type RunOutcome =
  | { readonly _tag: "Reviewed"; readonly runId: string }
  | { readonly _tag: "Skipped"; readonly runId?: string | undefined; readonly reason: string }
  | {
      readonly _tag: "Failed"
      readonly runId: string | undefined
      readonly reason: string
      readonly retryable: boolean
      readonly notBefore?: number | undefined
    }
  /** Waits for the host or the records. This costs no attempt. */
  | { readonly _tag: "Waiting"; readonly reason: string; readonly until: number }
  | { readonly _tag: "Cancelled"; readonly reason: string }
  | { readonly _tag: "HandedBack" }

export const skipped = (reason: string, runId?: string): RunOutcome => ({ _tag: "Skipped", runId, reason })
export const reviewed = (runId: string): RunOutcome => ({ _tag: "Reviewed", runId })
export const failed = (reason: string, retryable: boolean, notBefore?: number, runId?: string): RunOutcome => ({
  _tag: "Failed",
  runId,
  reason,
  retryable,
  notBefore
})
