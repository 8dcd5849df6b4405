/** Reasons why an entry of the queue waits or ended. */
import type { queueReasons } from "../../domain/reasons/Queue.ts"

export const queueTexts = {
  AwaitsSchedule: "等待时间窗口开放",
  CollectsPushes: "正在收集该分支的推送，或等待时间窗口开放",
  PreviousBatch: "等待前一个批次",
  RetriedByOperator: "由运维人员重试",
  WorkerLost: "执行它的进程已丢失{count|| {count} 次}",
  NodeStopped: "节点已停止",
  ClaimUnconfirmed: "领取未得到确认",
  BaseChanged: "目标分支已更改[[为 {branch}]]",
  NewerHead: "有更新的提交[[：{head}]]",
  NewerReviewWaits: "{reason}；更新的评审正在等待",
  NewerDelivery: "拉取请求有更新的提交或改了目标分支[[，见投递 {event}]]",
  CancelledBy: "由 {name} 取消[[：{reason}]]",
  CancelledFromChat: "由聊天用户 {type} {id} 取消",
  PullRequestClosed: "拉取请求已关闭",
  Quarantined: "已隔离：无法读取 {what}（{why}）",
  EventQuarantined: "已隔离：{why}",
  NotPublished: "未发布[[：{reason}]]",
  ReceiptsRemoved: "其投递记录已不存在",
  PausedBy: "操作人：{name}",
  Runs: "正在[[ {node} 上]]运行",
  AwaitsModel: "正在[[ {node} 上]]等待模型",
  RunsUntilCancelled: "正在[[ {node} 上]]运行，正在取消：{reason}",
  AwaitsExecutor: "等待空闲的执行器",
  WorkspacePaused: "工作区 {workspace} 已暂停：{reason}",
  NotDue: "尚未到期[[（{reason}）]]",
  TargetBusy: "同一目标的条目 {entry}：{status:entry}",
  WorkspaceFull: "工作区 {workspace} 的 {count} 个并发位均被占用",
  AwaitsTurn: "已到期[[（{reason}）]]，排在其他条目之后",
  Ended: "{status:entry}[[（{reason}）]]"
} as const satisfies Record<keyof typeof queueReasons, string>
