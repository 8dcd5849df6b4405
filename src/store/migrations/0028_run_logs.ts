/** Lines of log about runs (RunLogs). */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE run_logs (
    id TEXT PRIMARY KEY NOT NULL, run_id TEXT NOT NULL, written_at BIGINT NOT NULL, bytes BIGINT NOT NULL,
    lines TEXT NOT NULL)`
  yield* sql`CREATE INDEX run_logs_run ON run_logs (run_id, id)`
  yield* sql`CREATE INDEX run_logs_age ON run_logs (written_at)`
})
