/** Creates publications (Outbox). `seq` is the order of sending; `operation` is JSON and `kind` its tag. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const seq = sql.onDialectOrElse({
    sqlite: () => sql.literal("INTEGER PRIMARY KEY AUTOINCREMENT"),
    orElse: () => sql.literal("BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY")
  })
  yield* sql`CREATE TABLE publications (
    seq ${seq},
    id TEXT NOT NULL UNIQUE,
    operation_id TEXT NOT NULL UNIQUE,
    run_id TEXT NOT NULL,
    target_key TEXT NOT NULL,
    channel TEXT NOT NULL,
    kind TEXT NOT NULL,
    operation TEXT NOT NULL,
    status TEXT NOT NULL,
    position INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    not_before BIGINT,
    host_id TEXT,
    url TEXT,
    error TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
  )`
  yield* sql`CREATE INDEX publications_open ON publications (target_key, seq)
    WHERE status IN ('pending', 'sending', 'unknown')`
  yield* sql`CREATE INDEX publications_run ON publications (run_id, position)`
  yield* sql`CREATE INDEX publications_sent ON publications (target_key, channel, kind, seq) WHERE status = 'sent'`
})
