/**
 * What holds where many nodes write (Postgres): a delivery has one record. In SQLite the one process that owns the file sees to
 * that (DeliveryIndex.ts), for less than an index costs.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.onDialectOrElse({
    pg: () => Effect.asVoid(sql`CREATE UNIQUE INDEX events_delivery ON events (delivery_key)`),
    orElse: () => Effect.void
  })
})
