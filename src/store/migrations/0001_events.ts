/** Event records (Receipts). `work` is JSON, present when the delivery was accepted. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE events (
    id TEXT PRIMARY KEY NOT NULL,
    delivery_key TEXT NOT NULL UNIQUE,
    provider TEXT NOT NULL,
    event TEXT NOT NULL,
    action TEXT,
    trigger_name TEXT,
    workspace TEXT,
    target_kind TEXT,
    target_key TEXT,
    repo TEXT,
    decision TEXT NOT NULL,
    reason TEXT,
    work TEXT,
    received_at BIGINT NOT NULL,
    outcome TEXT,
    outcome_reason TEXT,
    outcome_at BIGINT,
    run_id TEXT
  )`
  yield* sql`CREATE INDEX events_unsettled ON events (id) WHERE work IS NOT NULL AND outcome IS NULL`
  yield* sql`CREATE INDEX events_workspace ON events (workspace, id)`
})
