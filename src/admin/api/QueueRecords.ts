/** Defines the records of the queue: entries, batches of automatic commits and pauses. */
import { Schema } from "effect"
import { Entry as StoredEntry } from "../../domain/Entry.ts"
import * as Field from "../../domain/Field.ts"
import { pauseFields, waitingFields } from "../../queue/operator/QueueControl.ts"
import { Batch as StoredBatch, Member as StoredMember } from "../../store/Batches.ts"
import { change, maybe } from "./Fields.ts"
import { shown } from "./Shown.ts"

export const entry = shown(
  { fields: { ...Field.structFields(StoredEntry).fields, admittedAt: Field.time, dueAt: Field.time } },
  {
    id: "Id, ordered by time",
    status: "State",
    workspace: "Id of the workspace",
    targetKey: "Key of the pull request, branch or issue",
    priority: "Smaller values run first",
    admittedAt: "Time of admission",
    dueAt: "Earliest start",
    attempts: "Failed attempts",
    events: "Ids of the deliveries that it covers"
  }
)
export const waiting = shown(
  { fields: waitingFields },
  {
    why: "Why it waits, or what runs it",
    until: "End of the wait, if it is known; while it runs, the end of its lease, which is renewed",
    position: "Position among the entries of its workspace that may start now; 1 starts next",
    startsAfter: "Time before which it cannot start, if it is known",
    behind: "Id of the entry of the same target that must end first"
  }
)
const { admitted_at, attempts, due_at, events, id, priority, status, target_key, workspace } = entry.fields
export const Entry = Schema.Struct({
  id,
  status,
  ...waiting.fields,
  workspace,
  target_key,
  ...change,
  priority,
  admitted_at,
  due_at,
  attempts,
  node: maybe("Node that runs it"),
  events
}).annotate({ identifier: "Entry", description: "A queue entry: one target to review" })
export type EntryRecord = typeof Entry.Type

export const batch = shown(StoredBatch, {
  id: "Id, ordered by time",
  status: "State",
  reason: "Reason of the status",
  workspace: "Id of the workspace",
  stream: "Key of the stream: workspace, trigger and branch",
  commits: "Number of commits",
  firstAt: "Time of the first push",
  dueAt: "Time at which it is queued",
  finishedAt: "Time of its end",
  entryId: "Id of its queue entry",
  runId: "Id of its run"
})
export const Batch = Schema.Struct({
  ...batch.fields,
  ...change,
  base: maybe("Commit before the first push")
}).annotate({ identifier: "Batch", description: "A batch of automatic commits" })
export type BatchRecord = typeof Batch.Type

export const member = shown(StoredMember, {
  eventId: "Id of the delivery",
  status: "State",
  before: "Commit before the push",
  after: "Commit after the push",
  commits: "Number of commits",
  receivedAt: "Time of the delivery",
  covers: "Commits of a push that a search found, at most 100"
})
export const Member = Schema.Struct(member.fields).annotate({
  identifier: "BatchMember",
  description: "A push of a batch"
})

export const pause = shown(
  { fields: pauseFields },
  {
    scope: "What is paused",
    name: "Workspace or node",
    reason: "Why it was paused, as entered, or by whom",
    since: "Start of the pause"
  }
)
export const Pause = Schema.Struct(pause.fields).annotate({
  identifier: "Pause",
  description: "A pause of a workspace or a node"
})
export type PauseRecord = typeof Pause.Type
