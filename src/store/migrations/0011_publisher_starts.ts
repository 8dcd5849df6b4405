/** Adds the number of publisher starts of a target since a row was completed (Outbox.takeOver). */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE publishers ADD COLUMN starts BIGINT NOT NULL DEFAULT 0`
})
