/** States of runs, in the order in which a run has them. */
export const runStatuses = [
  "queued",
  "preparing",
  "analyzing",
  "publishing",
  "succeeded",
  "failed",
  "timeout",
  "cancelled",
  "skipped"
] as const

export const runningStatuses = "preparing,analyzing,publishing"
export const failedStatuses = "failed,timeout"

export const isEnded = (status: string): boolean =>
  ["succeeded", "failed", "timeout", "cancelled", "skipped"].includes(status)
