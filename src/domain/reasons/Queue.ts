/** Reasons why entries and batches of the queue wait, and why they and their deliveries ended. */
import type { Params } from "../ReasonParams.ts"

export const queueReasons = {
  /** It waits. */
  AwaitsSchedule: {},
  CollectsPushes: {},
  PreviousBatch: {},
  RetriedByOperator: {},
  WorkerLost: { count: "number" },
  NodeStopped: {},
  ClaimUnconfirmed: {},
  /** It was replaced. */
  BaseChanged: { branch: "text?" },
  NewerHead: { head: "text?" },
  NewerReviewWaits: { reason: "reason" },
  /** A later delivery of its pull request replaced it before its review began. */
  NewerDelivery: { event: "text?" },
  /** It was cancelled or expired. */
  CancelledBy: { name: "text", reason: "reason?" },
  CancelledFromChat: { type: "text", id: "text" },
  PullRequestClosed: {},
  MergeGroupEnded: {},
  /** It failed. */
  Quarantined: { what: "text", why: "text" },
  EventQuarantined: { why: "text" },
  NotPublished: { reason: "reason?" },
  ReceiptsRemoved: {},
  /** An operator paused it. */
  PausedBy: { name: "text" },
  /** The position of an entry. */
  Runs: { node: "text?" },
  AwaitsModel: { node: "text?" },
  RunsUntilCancelled: { node: "text?", reason: "reason" },
  AwaitsExecutor: {},
  WorkspacePaused: { workspace: "text", reason: "reason" },
  NotDue: { reason: "reason?" },
  TargetBusy: { entry: "text", status: "text" },
  WorkspaceFull: { workspace: "text", count: "number" },
  AwaitsTurn: { reason: "reason?" },
  Ended: { status: "text", reason: "reason?" },
  /** It refuses work, or cannot be read or written. */
  QueueFull: { count: "number" },
  WorkspaceQueueFull: { count: "number", workspace: "text" },
  QueueFails: { why: "reason" },
  RedisQueueFails: { server: "text", why: "reason" },
  NatsQueueFails: { why: "text" },
  RedisUrlExpected: {},
  RedisLayoutUnknown: { keys: "text", layout: "text", known: "text" },
  QueueFileOfOtherBuild: { version: "number", known: "number" },
  QueueKeysUnreadable: { why: "text" },
  SnapshotPagesMissing: { snapshot: "text" },
  JournalMessagesMissing: {},
  JournalOfNewerRelease: { why: "text" },
  QueueWritesConflict: {},
  QueueSnapshotBusy: {},
  QueueChangeUnclear: {},
  QueueOperationsWait: { count: "number" },
  QueueReadOnly: { path: "text" },
  QueueInMemory: { kind: "text" },
  ExpiryNotRecorded: { entry: "text" }
} as const satisfies Record<string, Params>
