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
  MergeGroupEnded: "the merge group was merged or left its queue",
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
  Ended: "{status}[[ ({reason})]]",
  QueueFull: "the queue is full: {count} reviews of the service wait. Try again later, or raise {=queue.limits.total}",
  WorkspaceQueueFull:
    "the queue is full: {count} reviews of workspace {workspace} wait. Try again later, or raise {=queue.limits.per_workspace}",
  QueueFails: "Queue: {why}",
  RedisQueueFails: "Queue on Redis at {server}: {why}",
  NatsQueueFails: "Queue over NATS: {why}",
  RedisUrlExpected: "{=storage.cache.redis.url_env} does not hold a Redis URL (redis:// or rediss://)",
  RedisLayoutUnknown:
    "the keys {keys}* have layout {layout}, and this release knows {known}. Let the release that wrote them finish its queue, or remove them: what was accepted is queued again from its records",
  QueueFileOfOtherBuild:
    "its version is {version}, but this release knows version {known}: another build made the file. Nothing was changed. Start that build, or move the file away: accepted work is queued again from its records",
  QueueKeysUnreadable:
    "what Redis holds is not of its journal: {why}. Remove the keys of the queue: what was accepted is queued again from its records",
  SnapshotPagesMissing: "no pages of snapshot {snapshot}",
  JournalMessagesMissing: "messages of its journal are missing",
  JournalOfNewerRelease: "a newer release wrote a message of its journal ({why}). Upgrade this node",
  QueueWritesConflict: "other nodes write all the time. Try again later",
  QueueSnapshotBusy: "another node writes a snapshot of the queue. Try again later",
  QueueChangeUnclear: "nobody can say whether a change was made. Try again",
  QueueOperationsWait: "{count} operations wait. Try again later",
  QueueReadOnly:
    "The running service holds the queue {path}: only it can change entries. Stop it and repeat the command",
  QueueInMemory:
    "{=queue.kind} {kind} keeps what waits in the memory of the running service: only that process can show or change it. Start it, or name its address with --url",
  ExpiryNotRecorded: "the expiry of entry {entry} could not be recorded"
} as const satisfies Record<keyof typeof queueReasons, string>
