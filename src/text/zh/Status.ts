/** Descriptions of the status of a commit. */
import type { statusReasons } from "../../domain/reasons/Status.ts"

export const statusTexts = {
  ReviewInProgress: "评审进行中",
  ReviewFailed: "评审失败",
  ReviewCancelled: "评审已取消",
  ClosedUnreviewed: "未评审：在评审结束前已关闭",
  ReviewUnpublished: "评审无法发布",
  WaitedTooLong: "未评审：等待时间过长",
  VerdictLate: "{minutes} 分钟内没有结论：评审结果随后给出",
  NotReviewed: "未评审",
  SupersededReview: "已被更新的评审取代",
  SupersededBy: "已被 {head} 取代",
  WaitsForReview: "等待评审",
  AuthorOverLimit: "未评审：作者已达到每小时评审次数上限",
  BudgetExhausted: "未评审：模型调用预算已用尽[[；已知问题 {known} 个]]",
  NoProblemsFound: "未发现问题[[，已驳回 {dismissed} 个]]",
  ProblemsFound: "{severities,}[[，已驳回 {dismissed} 个]]",
  SeverityCount: "{severity:severity} {count} 个",
  ReportsLost: "可用部分：{found}；模型的 {count} 份报告无法读取",
  MembersUnpassed: "{found}；未通过：{changes}",
  FilesUnread: "已读部分：{found}；{count} 个文件未完整读取",
  LinesUnread: "已读部分：{found}；已读取 {changed} 行变更中的 {lines} 行",
  NothingToReview: "没有需要评审的内容",
  HeldIn: "{change}[[（合入 {branch}）]]：{why}",
  HeldElsewhere: "另一个变更[[（合入 {branch}）]]：{why}",
  PartlyPublished: "{why}；未能全部发布"
} as const satisfies Record<keyof typeof statusReasons, string>
