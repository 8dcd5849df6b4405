/** Outcome of a review. */
import type { Reason } from "../../src/domain/Reason.ts"

/** Deliveries whose outcome is on record already. */
interface WithSettled {
  readonly settled?: ReadonlyArray<string> | undefined
}

export type RunOutcome =
  | ({ readonly _tag: "Reviewed"; readonly runId: string } & WithSettled)
  | ({ readonly _tag: "Skipped"; readonly runId?: string | undefined; readonly reason: Reason } & WithSettled)
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

export const skipped = (reason: Reason, runId?: string, settled?: ReadonlyArray<string>) =>
  ({ _tag: "Skipped", runId, reason, settled }) as const satisfies RunOutcome
export const reviewed = (runId: string, settled?: ReadonlyArray<string>) =>
  ({ _tag: "Reviewed", runId, settled }) as const satisfies RunOutcome

/** Returns the outcome of the deliveries of an entry whose work has ended. */
export const eventOutcome = (outcome: Extract<RunOutcome, { readonly _tag: "Reviewed" | "Skipped" | "Failed" }>) => {
  switch (outcome._tag) {
    case "Reviewed":
      return { outcome: "executed", runId: outcome.runId } as const
    case "Skipped":
      return { outcome: "skipped", reason: outcome.reason, runId: outcome.runId } as const
    case "Failed":
      return { outcome: "failed", reason: outcome.reason, runId: outcome.runId } as const
  }
}
export const failed = (reason: Reason, retryable: boolean, notBefore?: number, runId?: string): RunOutcome => ({
  _tag: "Failed",
  runId,
  reason,
  retryable,
  notBefore
})
