/**
 * Event records (Receipts). `work` is JSON, present when the delivery was accepted; `seq` is the order of commits, which the
 * index of delivery keys counts by (DeliveryKeys.ts). Lists by workspace scan: retention keeps the table small.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const seq = sql.onDialectOrElse({
    sqlite: () => sql.literal("INTEGER PRIMARY KEY AUTOINCREMENT"),
    orElse: () => sql.literal("BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY")
  })
  // Small rows, found by key only.
  const clustered = sql.onDialectOrElse({ sqlite: () => sql.literal("WITHOUT ROWID"), orElse: () => sql.literal("") })
  const bytes = sql.onDialectOrElse({ sqlite: () => sql.literal("BLOB"), orElse: () => sql.literal("BYTEA") })
  yield* sql`CREATE TABLE events (
    seq ${seq},
    id TEXT NOT NULL UNIQUE,
    delivery_key TEXT NOT NULL,
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
  yield* sql`CREATE TABLE delivery_keys (key ${bytes} PRIMARY KEY NOT NULL, seq BIGINT NOT NULL) ${clustered}`
})
