/** Reasons for which a notice to operators is not sent, or not yet. */
import type { noticeReasons } from "../../domain/reasons/Notice.ts"

export const noticeTexts = {
  OtherNodeNotifies: "另一个节点正在发送通知",
  HourlyMessagesSent: "该渠道本小时的消息已用完",
  NotConfirmed: "没有响应",
  NotSentTwice: "没有响应；为避免重复，不再发送",
  NoticeTooOld: "{hours} 小时内未能发送",
  NoReasonRecorded: "没有记录原因"
} as const satisfies Record<keyof typeof noticeReasons, string>
