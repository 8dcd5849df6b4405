/** Reasons why an entry of the queue waits or ended. */
import type { queueReasons } from "../../domain/reasons/Queue.ts"

export const queueTexts = {
  BaseChanged: "the base changed to {branch}",
  NewerHead: "a newer head arrived: {head}",
  WorkerLost: "its worker was lost{count||, {count} times}",
  NewerReviewWaits: "{reason}; a newer review waits",
  RetriedByOperator: "retried by an operator",
  CollectsPushes: "collects the pushes of its branch, or waits for its schedule to open",
  Quarantined: "quarantined: {what} cannot be read ({why})",
  Runs: "runs on {node}",
  AwaitsModel: "waits for its model on {node}",
  RunsUntilCancelled: "runs on {node} and is being cancelled: {reason}",
  AwaitsExecutor: "waits for a free executor",
  WorkspacePaused: "workspace {workspace} is paused: {reason}",
  NotDue: "is not due yet[[ ({reason})]]",
  TargetBusy: "entry {entry} of the same target is {status:entry}",
  WorkspaceFull: "all {count} slots of workspace {workspace} are in use",
  AwaitsTurn: "is due[[ ({reason})]]; others are first",
  Ended: "{status:entry}[[ ({reason})]]"
} as const satisfies Record<keyof typeof queueReasons, string>
