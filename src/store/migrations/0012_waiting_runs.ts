/** Adds the start of a run's wait for its host and the time of the next attempt. Null while it does not wait. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE runs ADD COLUMN waiting_since BIGINT`
  yield* sql`ALTER TABLE runs ADD COLUMN waiting_until BIGINT`
})
