/** Reasons why an entry of the queue waits or ended. */
import type { queueReasons } from "../../domain/reasons/Queue.ts"

export const queueTexts = {
  BaseChanged: "目标分支改为 {branch}",
  NewerHead: "有更新的提交：{head}",
  WorkerLost: "执行它的进程已丢失{count||（{count} 次）}",
  NewerReviewWaits: "{reason}；更新的评审正在等待",
  RetriedByOperator: "由运维人员重试",
  CollectsPushes: "正在收集该分支的推送，或等待时间窗口开放",
  Quarantined: "已隔离：无法读取 {what}（{why}）",
  Runs: "正在 {node} 上运行",
  AwaitsModel: "正在 {node} 上等待模型",
  RunsUntilCancelled: "正在 {node} 上运行，正在取消：{reason}",
  AwaitsExecutor: "等待空闲的执行器",
  WorkspacePaused: "工作区 {workspace} 已暂停：{reason}",
  NotDue: "尚未到期[[（{reason}）]]",
  TargetBusy: "同一目标的条目 {entry}：{status:entry}",
  WorkspaceFull: "工作区 {workspace} 的 {count} 个并发位均被占用",
  AwaitsTurn: "已到期[[（{reason}）]]，排在其他条目之后",
  Ended: "{status:entry}[[（{reason}）]]"
} as const satisfies Record<keyof typeof queueReasons, string>
