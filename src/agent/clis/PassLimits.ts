/** Limits of one pass of an agent CLI, in addition to those of its sandbox. */

/** Bytes of one reply of a tool. Above about ten thousand, some agents cut replies. */
export const maxReplyBytes = 9_000
/** Texts of one pass that are logged. */
export const maxLoggedTexts = 200

export interface PassTimes {
  /** Time until the first model call. */
  readonly startMillis: number
  /** Time for which the last model call may have failed, transiently and permanently. */
  readonly failingMillis: number
  readonly refusedMillis: number
  /** Time for the agent to end by itself after it ended the review, or after its calls were stopped. */
  readonly endMillis: number
  readonly pollMillis: number
}

export const passTimes: PassTimes = {
  startMillis: 180_000,
  failingMillis: 60_000,
  refusedMillis: 10_000,
  endMillis: 20_000,
  pollMillis: 500
}
