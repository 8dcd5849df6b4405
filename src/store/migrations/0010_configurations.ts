/** Creates configuration documents that work is pinned to (SqlConfigurations): JSON without any secret in clear. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE configurations (
    hash TEXT PRIMARY KEY NOT NULL,
    document TEXT NOT NULL,
    kept_at BIGINT NOT NULL
  )`
  yield* sql`CREATE INDEX configurations_age ON configurations (kept_at)`
})
