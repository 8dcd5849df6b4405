/** How often publishing to a target was started since a row of it came to an end (Outbox.takeOver). */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE publishers ADD COLUMN starts BIGINT NOT NULL DEFAULT 0`
})
