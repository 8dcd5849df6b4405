/** Defines the records of the queue: entries, batches of automatic commits and pauses. */
import { Schema } from "effect"
import { EntryStatus } from "../../domain/Entry.ts"
import { Batch as StoredBatch, Member as StoredMember } from "../../store/Batches.ts"
import {
  change,
  count,
  maybe,
  maybeCount,
  maybeTime,
  reason,
  recordId,
  targetKey,
  text,
  time,
  workspace
} from "./Fields.ts"
import { shown } from "./Shown.ts"

export const Entry = Schema.Struct({
  id: recordId,
  status: EntryStatus,
  why: reason("Why it waits, or what runs it"),
  until: maybeTime("End of the wait, if it is known; while it runs, the end of its lease, which is renewed"),
  position: maybeCount("Position among the entries of its workspace that may start now; 1 starts next"),
  starts_after: maybeTime("Time before which it cannot start, if it is known"),
  behind: maybe("Id of the entry of the same target that must end first"),
  workspace,
  target_key: targetKey,
  ...change,
  priority: count("Smaller values run first"),
  admitted_at: time("Time of admission"),
  due_at: time("Earliest start"),
  attempts: count("Failed attempts"),
  node: maybe("Node that runs it"),
  events: Schema.Array(Schema.String).annotate({ description: "Ids of the deliveries that it covers" })
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
  receivedAt: "Time of the delivery"
})
export const Member = Schema.Struct(member.fields).annotate({
  identifier: "BatchMember",
  description: "A push of a batch"
})

export const Pause = Schema.Struct({
  scope: Schema.Literals(["workspace", "node"]).annotate({ description: "What is paused" }),
  name: text("Workspace or node"),
  reason: reason("Why it was paused, as entered, or by whom"),
  since: time("Start of the pause")
}).annotate({ identifier: "Pause", description: "A pause of a workspace or a node" })
export type PauseRecord = typeof Pause.Type
