/** Reasons for which a notice to operators is not sent, or not yet. */
import type { noticeReasons } from "../../domain/reasons/Notice.ts"

export const noticeTexts = {
  OtherNodeNotifies: "another node sends notices now",
  HourlyMessagesSent: "the channel had its messages of this hour",
  NotConfirmed: "no response",
  NotSentTwice: "no response; it is not sent again, because a second message could be a duplicate",
  NoticeTooOld: "it could not be sent within {hours} hours",
  NoReasonRecorded: "no reason was recorded"
} as const satisfies Record<keyof typeof noticeReasons, string>
