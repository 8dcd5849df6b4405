/** Adds costs per author of changes and day. Null without an author, and in reservations that were open before. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE ledger_reservations ADD COLUMN author_account TEXT`
})
