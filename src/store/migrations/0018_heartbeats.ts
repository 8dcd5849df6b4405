/** Times at which the nodes of a cluster were last alive (Heartbeats). `owner` is the process (NodeIdentity). */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE heartbeats (owner TEXT NOT NULL PRIMARY KEY, seen_at BIGINT NOT NULL)`
})
