/** Creates run records. `change` and `analysis` are JSON; `token` is the newest fencing token that has written the run. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE runs (
    id TEXT PRIMARY KEY NOT NULL,
    entry_id TEXT NOT NULL,
    token BIGINT NOT NULL,
    workspace TEXT NOT NULL,
    target_key TEXT NOT NULL,
    change TEXT NOT NULL,
    head TEXT NOT NULL,
    base TEXT,
    status TEXT NOT NULL,
    reason TEXT,
    partial INTEGER NOT NULL,
    config_hash TEXT NOT NULL,
    analysis TEXT,
    created_at BIGINT NOT NULL,
    started_at BIGINT,
    finished_at BIGINT
  )`
  yield* sql`CREATE INDEX runs_entry ON runs (entry_id)`
  yield* sql`CREATE INDEX runs_target ON runs (target_key, head, id)`
  yield* sql`CREATE INDEX runs_workspace ON runs (workspace, id)`
  yield* sql`CREATE INDEX runs_status ON runs (status, id)`
})
