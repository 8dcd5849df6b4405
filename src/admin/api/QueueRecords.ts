/** Defines the records of the queue: entries, batches of automatic commits and pauses. */
import { Schema } from "effect"
import { BatchStatus, MemberStatus } from "../../domain/Batch.ts"
import { EntryStatus } from "../../domain/Entry.ts"
import {
  change,
  count,
  maybe,
  maybeCount,
  maybeReason,
  maybeTime,
  reason,
  recordId,
  targetKey,
  text,
  time,
  workspace
} from "./Fields.ts"

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

export const Batch = Schema.Struct({
  id: recordId,
  status: BatchStatus,
  reason: maybeReason("Reason of the status"),
  workspace,
  stream: text("Key of the stream: workspace, trigger and branch"),
  ...change,
  base: maybe("Commit before the first push"),
  commits: count("Number of commits"),
  first_at: time("Time of the first push"),
  due_at: time("Time at which it is queued"),
  finished_at: maybeTime("Time of its end"),
  entry_id: maybe("Id of its queue entry"),
  run_id: maybe("Id of its run")
}).annotate({ identifier: "Batch", description: "A batch of automatic commits" })
export type BatchRecord = typeof Batch.Type

export const Member = Schema.Struct({
  event_id: text("Id of the delivery"),
  status: MemberStatus,
  before: maybe("Commit before the push"),
  after: text("Commit after the push"),
  commits: count("Number of commits"),
  received_at: time("Time of the delivery")
}).annotate({ identifier: "BatchMember", description: "A push of a batch" })

export const Pause = Schema.Struct({
  scope: Schema.Literals(["workspace", "node"]).annotate({ description: "What is paused" }),
  name: text("Workspace or node"),
  reason: reason("Why it was paused, as entered, or by whom"),
  since: time("Start of the pause")
}).annotate({ identifier: "Pause", description: "A pause of a workspace or a node" })
export type PauseRecord = typeof Pause.Type
