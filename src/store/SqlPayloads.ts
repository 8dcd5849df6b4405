/** Stores payloads of deliveries in the table `delivery_payloads`. */
import { Array as Arr, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { deleteInSteps } from "../database/DeleteInSteps.ts"
import { corrupt, unavailable } from "../database/StoreFailure.ts"
import { Payloads } from "./Payloads.ts"
import type { DeliveryPayload } from "./Payloads.ts"

const Admits = Schema.Union([
  Schema.TaggedStruct("Triggers", { names: Schema.Array(Schema.String) }),
  Schema.TaggedStruct("Workspaces", { ids: Schema.optional(Schema.Array(Schema.String)) })
])

const Row = Schema.Struct({
  event_id: Schema.String,
  received_at: Schema.Int,
  path: Schema.String,
  headers: Schema.fromJsonString(Schema.Record(Schema.String, Schema.String)),
  body: Schema.String,
  bytes: Schema.Int,
  cut: Schema.Int,
  admits: Schema.fromJsonString(Admits),
  replay_of: Schema.NullOr(Schema.String)
})

const decode = Schema.decodeUnknownEffect(Schema.Array(Row))

const toPayload = (row: typeof Row.Type): DeliveryPayload => ({
  eventId: row.event_id,
  receivedAt: row.received_at,
  path: row.path,
  headers: row.headers,
  body: row.body,
  bytes: row.bytes,
  cut: row.cut === 1,
  admits: row.admits._tag === "Triggers" ? row.admits : { _tag: "Workspaces", ids: row.admits.ids },
  replayOf: row.replay_of ?? undefined
})

const toRow = (payload: DeliveryPayload) => ({
  event_id: payload.eventId,
  received_at: payload.receivedAt,
  path: payload.path,
  headers: JSON.stringify(payload.headers),
  body: payload.body,
  bytes: payload.bytes,
  cut: payload.cut ? 1 : 0,
  admits: JSON.stringify(payload.admits),
  replay_of: payload.replayOf ?? null
})

const removeBeyond = (sql: SqlClient.SqlClient, maxCount: number) =>
  deleteInSteps(
    (step) => sql`DELETE FROM delivery_payloads WHERE event_id IN (
      SELECT event_id FROM delivery_payloads ORDER BY received_at DESC, event_id DESC LIMIT ${step} OFFSET ${maxCount})
      RETURNING event_id`
  )

export const layer: Layer.Layer<Payloads, never, SqlClient.SqlClient> = Layer.effect(
  Payloads,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return Payloads.of({
      store: (payloads, maxCount) =>
        Effect.gen(function* () {
          if (Arr.isReadonlyArrayNonEmpty(payloads))
            yield* sql`INSERT INTO delivery_payloads ${sql.insert(Arr.map(payloads, toRow))} ON CONFLICT (event_id) DO NOTHING`
          yield* removeBeyond(sql, maxCount)
        }).pipe(unavailable("payloads.store")),
      get: (eventId) =>
        sql`SELECT * FROM delivery_payloads WHERE event_id = ${eventId}`.pipe(
          Effect.flatMap((rows) => Effect.mapError(decode(rows), (error) => corrupt("payloads.get", error))),
          Effect.map(([row]) => (row === undefined ? undefined : toPayload(row))),
          unavailable("payloads.get")
        ),
      prune: ({ before, maxCount }) =>
        Effect.gen(function* () {
          const old = yield* deleteInSteps(
            (step) => sql`DELETE FROM delivery_payloads WHERE event_id IN (
              SELECT event_id FROM delivery_payloads WHERE received_at < ${before} LIMIT ${step}) RETURNING event_id`
          )
          return old + (yield* removeBeyond(sql, maxCount))
        }).pipe(unavailable("payloads.prune"))
    })
  })
)
