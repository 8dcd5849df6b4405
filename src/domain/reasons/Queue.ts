/** Reasons why an entry of the queue waits or ended. */
import type { Params } from "../ReasonParams.ts"

export const queueReasons = {
  // Of `entry.reason`.
  BaseChanged: { branch: "text" },
  NewerHead: { head: "text" },
  WorkerLost: { count: "number" },
  NewerReviewWaits: { reason: "reason" },
  RetriedByOperator: {},
  CollectsPushes: {},
  Quarantined: { what: "text", why: "text" },
  // Of its position.
  Runs: { node: "text" },
  AwaitsModel: { node: "text" },
  RunsUntilCancelled: { node: "text", reason: "reason" },
  AwaitsExecutor: {},
  WorkspacePaused: { workspace: "text", reason: "reason" },
  NotDue: { reason: "reason?" },
  TargetBusy: { entry: "text", status: "text" },
  WorkspaceFull: { workspace: "text", count: "number" },
  AwaitsTurn: { reason: "reason?" },
  Ended: { status: "text", reason: "reason?" }
} as const satisfies Record<string, Params>
