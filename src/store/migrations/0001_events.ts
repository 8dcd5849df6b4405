/**
 * Creates event records (Receipts). `work` is JSON, present if the delivery was accepted; `seq` is the order of commits. Delivery keys are
 * indexed in memory (DeliveryIndex.ts). Lists by workspace scan: retention keeps the table small.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const seq = sql.onDialectOrElse({
    sqlite: () => sql.literal("INTEGER PRIMARY KEY"),
    orElse: () => sql.literal("BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY")
  })
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
  yield* sql`CREATE INDEX events_unsettled ON events (seq) WHERE work IS NOT NULL AND outcome IS NULL`
})
