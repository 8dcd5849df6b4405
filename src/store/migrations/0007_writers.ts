/**
 * Adds what concurrent nodes need (Postgres): a unique delivery key. In SQLite the one process that owns the file ensures it
 * (DeliveryIndex.ts), for less than the cost of an index.
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
