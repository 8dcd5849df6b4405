/** Adds the publisher of a target (Outbox.takeOver): the newest token, which invalidates older ones. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE publishers (
    target_key TEXT PRIMARY KEY NOT NULL,
    token BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
  )`
})
