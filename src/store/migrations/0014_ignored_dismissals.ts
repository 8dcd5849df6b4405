/** Adds ignored dismissals of a publication (domain/Publication.ts), as JSON. Null if there were none. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE publications ADD COLUMN ignored_dismissals TEXT`
})
