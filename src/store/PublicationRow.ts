/** Encodes a publication for the table `publications`. */
import { Array as Arr, Effect, Order, Schema } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { OperationId, TargetKey } from "../domain/Keys.ts"
import { IgnoredDismissal, Operation, PublicationStatus, Reaction } from "../domain/Publication.ts"
import type { Publication } from "../domain/Publication.ts"
import { encodeReason, ReasonText } from "./ReasonText.ts"

const PublicationRow = Schema.Struct({
  id: Schema.String,
  operation_id: OperationId,
  run_id: Schema.String,
  target_key: TargetKey,
  channel: Schema.String,
  operation: Schema.fromJsonString(Operation),
  status: PublicationStatus,
  position: Schema.Int,
  attempts: Schema.Int,
  not_before: Schema.NullOr(Schema.Int),
  host_id: Schema.NullOr(Schema.String),
  url: Schema.NullOr(Schema.String),
  error: Schema.NullOr(ReasonText),
  ignored_dismissals: Schema.NullOr(Schema.fromJsonString(Schema.Array(IgnoredDismissal))),
  reactions: Schema.NullOr(Schema.fromJsonString(Schema.Array(Reaction))),
  posted: Schema.NullOr(Schema.fromJsonString(Schema.Array(Schema.String)))
})

export const decodePublicationRows = Schema.decodeUnknownEffect(Schema.Array(PublicationRow))

export const toPublication = (row: typeof PublicationRow.Type): Publication => ({
  id: row.id,
  operationId: row.operation_id,
  runId: row.run_id,
  targetKey: row.target_key,
  channel: row.channel,
  operation: row.operation,
  status: row.status,
  position: row.position,
  attempts: row.attempts,
  notBefore: row.not_before ?? undefined,
  hostId: row.host_id ?? undefined,
  url: row.url ?? undefined,
  error: row.error ?? undefined,
  ignoredDismissals: row.ignored_dismissals ?? undefined,
  reactions: row.reactions ?? undefined,
  posted: row.posted ?? undefined
})

const byPosition = Order.mapInput(Order.Number, (row: Publication) => row.position)
/** Keeps an insert below the maximum number of parameters of a statement. */
export const rowsPerInsert = 200

/** Adds rows in the order of their positions; existing rows with the same `operationId` do not change. */
export const insertPublications = (
  sql: SqlClient.SqlClient,
  rows: ReadonlyArray<Publication>,
  now: number
): Effect.Effect<void, SqlError.SqlError> =>
  Effect.forEach(
    Arr.chunksOf(Arr.sort(rows, byPosition), rowsPerInsert),
    (chunk) => sql`
      INSERT INTO publications ${sql.insert(Arr.map(chunk, (row) => toPublicationRow(row, now)))}
      ON CONFLICT (operation_id) DO NOTHING`,
    { discard: true }
  )

/** Encodes the columns `ignored_dismissals`, `reactions` and `posted`. */
export const toJson = (list: ReadonlyArray<IgnoredDismissal | Reaction | string> | undefined): string | null =>
  list === undefined ? null : JSON.stringify(list)

const toPublicationRow = (row: Publication, now: number) => ({
  id: row.id,
  operation_id: row.operationId,
  run_id: row.runId,
  target_key: row.targetKey,
  channel: row.channel,
  kind: row.operation._tag,
  head: row.operation._tag === "Status" ? row.operation.head : null,
  operation: JSON.stringify(row.operation),
  status: row.status,
  position: row.position,
  attempts: row.attempts,
  not_before: row.notBefore ?? null,
  host_id: row.hostId ?? null,
  url: row.url ?? null,
  error: encodeReason(row.error),
  ignored_dismissals: toJson(row.ignoredDismissals),
  reactions: toJson(row.reactions),
  posted: toJson(row.posted),
  created_at: now,
  updated_at: now
})
