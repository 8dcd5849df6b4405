/** States of chat connections (ChatHealths). */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE chat_health (
    connection TEXT PRIMARY KEY NOT NULL, state TEXT NOT NULL, detail TEXT, node TEXT NOT NULL, since BIGINT NOT NULL,
    reported_at BIGINT NOT NULL)`
})
