/** Encodes batches and their members for the tables `batches` and `batch_members`. */
import { Schema } from "effect"
import { BatchStatus, MemberStatus } from "../domain/Batch.ts"
import { Change } from "../domain/Change.ts"
import { TargetKey } from "../domain/Keys.ts"
import type { Batch, Member, Placed } from "./Batches.ts"
import { encodeReason, ReasonText } from "./ReasonText.ts"

const BatchRow = Schema.Struct({
  id: Schema.String,
  stream: TargetKey,
  workspace: Schema.String,
  change: Schema.fromJsonString(Change),
  config_hash: Schema.String,
  priority: Schema.Int,
  status: BatchStatus,
  commits: Schema.Int,
  first_at: Schema.Int,
  due_at: Schema.Int,
  entry_id: Schema.NullOr(Schema.String),
  reason: Schema.NullOr(ReasonText),
  run_id: Schema.NullOr(Schema.String),
  finished_at: Schema.NullOr(Schema.Int)
})

/** A boolean is 0 or 1 in SQLite. */
const PlacedRow = Schema.Struct({ ...BatchRow.fields, is_first: Schema.Union([Schema.Boolean, Schema.Int]) })

const MemberRow = Schema.Struct({
  event_id: Schema.String,
  batch_id: Schema.String,
  before_id: Schema.NullOr(Schema.String),
  after_id: Schema.String,
  commits: Schema.Int,
  received_at: Schema.Int,
  status: MemberStatus
})

export const decodeBatchRows = Schema.decodeUnknownEffect(Schema.Array(BatchRow))
export const decodePlacedRows = Schema.decodeUnknownEffect(Schema.Array(PlacedRow))
export const decodeMemberRows = Schema.decodeUnknownEffect(Schema.Array(MemberRow))

export const toBatch = (row: typeof BatchRow.Type): Batch => ({
  id: row.id,
  stream: row.stream,
  workspace: row.workspace,
  change: row.change,
  configHash: row.config_hash,
  priority: row.priority,
  status: row.status,
  commits: row.commits,
  firstAt: row.first_at,
  dueAt: row.due_at,
  entryId: row.entry_id ?? undefined,
  reason: row.reason ?? undefined,
  runId: row.run_id ?? undefined,
  finishedAt: row.finished_at ?? undefined
})

export const toPlaced = (row: typeof PlacedRow.Type): Placed => ({
  batch: toBatch(row),
  first: row.is_first === true || row.is_first === 1
})

export const toBatchRow = (batch: Batch) => ({
  id: batch.id,
  stream: batch.stream,
  workspace: batch.workspace,
  change: JSON.stringify(batch.change),
  config_hash: batch.configHash,
  priority: batch.priority,
  status: batch.status,
  commits: batch.commits,
  first_at: batch.firstAt,
  due_at: batch.dueAt,
  entry_id: batch.entryId ?? null,
  reason: encodeReason(batch.reason),
  run_id: batch.runId ?? null,
  finished_at: batch.finishedAt ?? null
})

export const toMember = (row: typeof MemberRow.Type): Member => ({
  eventId: row.event_id,
  before: row.before_id ?? undefined,
  after: row.after_id,
  commits: row.commits,
  receivedAt: row.received_at,
  status: row.status
})
