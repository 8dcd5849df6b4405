/** Owners of chat connections (ChatOwners). */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE chat_owners (
    connection TEXT PRIMARY KEY NOT NULL, node TEXT NOT NULL, epoch BIGINT NOT NULL)`
})
