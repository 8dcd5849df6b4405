/** Reasons for which a notice to operators is not sent, or not yet. */
import type { Params } from "../ReasonParams.ts"

export const noticeReasons = {
  OtherNodeNotifies: {},
  HourlyMessagesSent: {},
  NotConfirmed: {},
  NotSentTwice: {},
  NoticeTooOld: { hours: "number" },
  NoReasonRecorded: {}
} as const satisfies Record<string, Params>
