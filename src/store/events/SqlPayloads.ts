/** Stores payloads of deliveries in the table `delivery_payloads`. */
import { Array as Arr, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { deleteInSteps } from "../../database/sql/DeleteInSteps.ts"
import { selectAs, unavailable } from "../../database/sql/StoreFailure.ts"
import { DeliveryPayload, Payloads } from "../Payloads.ts"

const removeBeyond = (sql: SqlClient.SqlClient, maxCount: number) =>
  deleteInSteps(
    (step) => sql`DELETE FROM delivery_payloads WHERE event_id IN (
      SELECT event_id FROM delivery_payloads ORDER BY received_at DESC, event_id DESC LIMIT ${step} OFFSET ${maxCount})
      RETURNING event_id`
  )

/** Share of the maximum that may be stored beyond it, so that few writes search for what to remove. */
const spareShare = 0.05

export const layer: Layer.Layer<Payloads, never, SqlClient.SqlClient> = Layer.effect(
  Payloads,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    let added = 0
    return Payloads.of({
      store: (payloads, maxCount) =>
        Effect.gen(function* () {
          if (Arr.isReadonlyArrayNonEmpty(payloads))
            yield* sql`INSERT INTO delivery_payloads ${sql.insert(Arr.map(payloads, DeliveryPayload.toRow))} ON CONFLICT (event_id) DO NOTHING`
          added += payloads.length
          if (added < maxCount * spareShare) return
          added = 0
          yield* removeBeyond(sql, maxCount)
        }).pipe(unavailable("payloads.store")),
      get: (eventId) =>
        selectAs(
          DeliveryPayload,
          "payloads.get",
          sql`SELECT * FROM delivery_payloads WHERE event_id = ${eventId}`
        ).pipe(
          Effect.map(([payload]) => payload),
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
