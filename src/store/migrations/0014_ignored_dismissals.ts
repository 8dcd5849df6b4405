/** Dismissals that a publication found and that were not obeyed (domain/Publication.ts), as JSON. Null where there were none. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE publications ADD COLUMN ignored_dismissals TEXT`
})
