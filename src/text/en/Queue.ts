/** Reasons why an entry of the queue waits or ended. */
import type { queueReasons } from "../../domain/reasons/Queue.ts"

export const queueTexts = {
  AwaitsSchedule: "waits for its schedule to open",
  CollectsPushes: "collects the pushes of its branch, or waits for its schedule to open",
  PreviousBatch: "waits for the previous batch",
  RetriedByOperator: "retried by an operator",
  WorkerLost: "its worker was lost{count||, {count} times}",
  NodeStopped: "the node stopped",
  ClaimUnconfirmed: "its claim was not confirmed",
  BaseChanged: "the base changed[[ to {branch}]]",
  NewerHead: "a newer head arrived[[: {head}]]",
  NewerReviewWaits: "{reason}; a newer review waits",
  NewerDelivery: "the pull request has a newer head or another base[[ since event {event}]]",
  CancelledBy: "cancelled by {name}[[: {reason}]]",
  CancelledFromChat: "cancelled from chat by {type} {id}",
  PullRequestClosed: "the pull request is closed",
  Quarantined: "quarantined: {what} cannot be read ({why})",
  EventQuarantined: "quarantined: {why}",
  NotPublished: "not published[[: {reason}]]",
  ReceiptsRemoved: "its receipts are no longer on record",
  PausedBy: "by {name}",
  Runs: "runs[[ on {node}]]",
  AwaitsModel: "waits for its model[[ on {node}]]",
  RunsUntilCancelled: "runs[[ on {node}]] and is being cancelled: {reason}",
  AwaitsExecutor: "waits for a free executor",
  WorkspacePaused: "workspace {workspace} is paused: {reason}",
  NotDue: "is not due yet[[ ({reason})]]",
  TargetBusy: "entry {entry} of the same target is {status}",
  WorkspaceFull: "all {count} slots of workspace {workspace} are in use",
  AwaitsTurn: "is due[[ ({reason})]]; others are first",
  Ended: "{status}[[ ({reason})]]"
} as const satisfies Record<keyof typeof queueReasons, string>
