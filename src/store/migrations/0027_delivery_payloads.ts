/** Bodies of the newest deliveries (Payloads). */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE delivery_payloads (
    event_id TEXT PRIMARY KEY NOT NULL, received_at BIGINT NOT NULL, path TEXT NOT NULL, headers TEXT NOT NULL,
    body TEXT NOT NULL, bytes BIGINT NOT NULL, cut INTEGER NOT NULL, admits TEXT NOT NULL, replay_of TEXT)`
  yield* sql`CREATE INDEX delivery_payloads_age ON delivery_payloads (received_at, event_id)`
})
