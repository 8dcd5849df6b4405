/** Encodes an event record for the table `events`. */
import { Schema } from "effect"
import { Change } from "../../domain/Change.ts"
import { EventDecision, EventOutcome } from "../../domain/Decision.ts"
import { DepotChange } from "../../domain/DepotChange.ts"
import { DeliveryKey, TargetKey } from "../../domain/Keys.ts"
import { encodeReason, ReasonText } from "./ReasonText.ts"
import type { DeliveryFacts, EventRecord, StoredEvent } from "../Receipts.ts"

const Work = Schema.Struct({
  change: Change,
  configHash: Schema.String,
  priority: Schema.Int,
  dueAt: Schema.Int,
  command: Schema.optional(Schema.Literals(["help", "cancel"]))
})

const EventRow = Schema.Struct({
  id: Schema.String,
  delivery_key: DeliveryKey,
  provider: Schema.String,
  event: Schema.String,
  action: Schema.NullOr(Schema.String),
  trigger_name: Schema.NullOr(Schema.String),
  workspace: Schema.NullOr(Schema.String),
  target_kind: Schema.NullOr(Schema.String),
  target_key: Schema.NullOr(TargetKey),
  repo: Schema.NullOr(Schema.String),
  decision: EventDecision,
  reason: Schema.NullOr(Schema.String),
  work: Schema.NullOr(Schema.fromJsonString(Work)),
  received_at: Schema.Int,
  outcome: Schema.NullOr(EventOutcome),
  outcome_reason: Schema.NullOr(ReasonText),
  outcome_at: Schema.NullOr(Schema.Int),
  run_id: Schema.NullOr(Schema.String),
  routing: Schema.NullOr(Schema.fromJsonString(DepotChange)),
  number: Schema.NullOr(Schema.Int),
  head: Schema.NullOr(Schema.String),
  branch: Schema.NullOr(Schema.String),
  author: Schema.NullOr(Schema.String),
  sender: Schema.NullOr(Schema.String),
  pusher: Schema.NullOr(Schema.String),
  command: Schema.NullOr(Schema.Literals(["review", "help", "cancel"])),
  rule: Schema.NullOr(ReasonText),
  duplicates: Schema.NullOr(Schema.Int),
  duplicated_at: Schema.NullOr(Schema.Int)
})

export const decodeEventRows = Schema.decodeUnknownEffect(Schema.Array(EventRow))

/** Returns the facts of a row, without those that it does not have. */
const toFacts = ({ author, branch, command, head, number, pusher, sender }: typeof EventRow.Type): DeliveryFacts => ({
  ...(number === null ? {} : { number }),
  ...(head === null ? {} : { head }),
  ...(branch === null ? {} : { branch }),
  ...(author === null ? {} : { author }),
  ...(sender === null ? {} : { sender }),
  ...(pusher === null ? {} : { pusher }),
  ...(command === null ? {} : { command })
})

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
  facts: toFacts(row),
  decision: row.decision,
  reason: row.reason ?? undefined,
  ...(row.rule === null ? {} : { rule: row.rule }),
  work: row.work ?? undefined,
  receivedAt: row.received_at,
  outcome: row.outcome ?? undefined,
  outcomeReason: row.outcome_reason ?? undefined,
  outcomeAt: row.outcome_at ?? undefined,
  runId: row.run_id ?? undefined,
  duplicates: row.duplicates ?? 0,
  duplicatedAt: row.duplicated_at ?? undefined,
  ...(row.routing === null ? {} : { routing: row.routing })
})

/** Columns of a new row, in the order of `toEventRow`. */
export const eventColumns = [
  "id",
  "delivery_key",
  "provider",
  "event",
  "action",
  "trigger_name",
  "workspace",
  "target_kind",
  "target_key",
  "repo",
  "decision",
  "reason",
  "work",
  "received_at",
  "routing",
  "number",
  "head",
  "branch",
  "author",
  "sender",
  "pusher",
  "command",
  "rule"
] as const

/** Returns the values of a new row, in the order of `eventColumns`. */
export const toEventRow = (record: EventRecord): ReadonlyArray<string | number | null> => [
  record.id,
  record.deliveryKey,
  record.provider,
  record.event,
  record.action ?? null,
  record.trigger ?? null,
  record.workspace ?? null,
  record.targetKind ?? null,
  record.targetKey ?? null,
  record.repo ?? null,
  record.decision,
  record.reason ?? null,
  record.work === undefined ? null : JSON.stringify(record.work),
  record.receivedAt,
  record.routing === undefined ? null : JSON.stringify(record.routing),
  record.facts.number ?? null,
  record.facts.head ?? null,
  record.facts.branch ?? null,
  record.facts.author ?? null,
  record.facts.sender ?? null,
  record.facts.pusher ?? null,
  record.facts.command ?? null,
  encodeReason(record.rule)
]
