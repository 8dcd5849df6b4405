/** How an event record stands in the table `events`. */
import { Schema } from "effect"
import { Change } from "../domain/Change.ts"
import { EventDecision, EventOutcome } from "../domain/Decision.ts"
import { DepotChange } from "../domain/DepotChange.ts"
import type { EventRecord, StoredEvent } from "./Receipts.ts"

const Work = Schema.Struct({
  change: Change,
  configHash: Schema.String,
  priority: Schema.Int,
  dueAt: Schema.Int,
  command: Schema.optional(Schema.Literals(["help", "cancel"]))
})

const EventRow = Schema.Struct({
  id: Schema.String,
  delivery_key: Schema.String,
  provider: Schema.String,
  event: Schema.String,
  action: Schema.NullOr(Schema.String),
  trigger_name: Schema.NullOr(Schema.String),
  workspace: Schema.NullOr(Schema.String),
  target_kind: Schema.NullOr(Schema.String),
  target_key: Schema.NullOr(Schema.String),
  repo: Schema.NullOr(Schema.String),
  decision: EventDecision,
  reason: Schema.NullOr(Schema.String),
  work: Schema.NullOr(Schema.fromJsonString(Work)),
  received_at: Schema.Int,
  outcome: Schema.NullOr(EventOutcome),
  outcome_reason: Schema.NullOr(Schema.String),
  outcome_at: Schema.NullOr(Schema.Int),
  run_id: Schema.NullOr(Schema.String),
  routing: Schema.NullOr(Schema.fromJsonString(DepotChange))
})

export const decodeEventRows = Schema.decodeUnknownEffect(Schema.Array(EventRow))

export const toStoredEvent = (row: typeof EventRow.Type): StoredEvent => ({
  id: row.id,
  deliveryKey: row.delivery_key,
  provider: row.provider,
  event: row.event,
  action: row.action ?? undefined,
  trigger: row.trigger_name ?? undefined,
  workspace: row.workspace ?? undefined,
  targetKind: row.target_kind ?? undefined,
  targetKey: row.target_key ?? undefined,
  repo: row.repo ?? undefined,
  decision: row.decision,
  reason: row.reason ?? undefined,
  work: row.work ?? undefined,
  receivedAt: row.received_at,
  outcome: row.outcome ?? undefined,
  outcomeReason: row.outcome_reason ?? undefined,
  outcomeAt: row.outcome_at ?? undefined,
  runId: row.run_id ?? undefined,
  ...(row.routing === null ? {} : { routing: row.routing })
})

/** Every key is present, so that the rows of one insert have the same columns. */
export const toEventRow = (record: EventRecord) => ({
  id: record.id,
  delivery_key: record.deliveryKey,
  provider: record.provider,
  event: record.event,
  action: record.action ?? null,
  trigger_name: record.trigger ?? null,
  workspace: record.workspace ?? null,
  target_kind: record.targetKind ?? null,
  target_key: record.targetKey ?? null,
  repo: record.repo ?? null,
  decision: record.decision,
  reason: record.reason ?? null,
  work: record.work === undefined ? null : JSON.stringify(record.work),
  received_at: record.receivedAt,
  routing: record.routing === undefined ? null : JSON.stringify(record.routing)
})
