/**
 * Notices to operators (Notices): one per key and channel. `notice_senders` has a single row: the number of the current sender, and the time
 * up to which ended deliveries were scanned.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE notices (
    id TEXT PRIMARY KEY NOT NULL,
    notice_key TEXT NOT NULL,
    kind TEXT NOT NULL,
    channel TEXT NOT NULL,
    facts TEXT NOT NULL,
    status TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    not_before BIGINT,
    error TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
  )`
  yield* sql`CREATE UNIQUE INDEX notices_key ON notices (notice_key, channel)`
  yield* sql`CREATE INDEX notices_open ON notices (id) WHERE status IN ('pending', 'sending')`
  yield* sql`CREATE INDEX notices_sent ON notices (channel, updated_at) WHERE status IN ('sent', 'unconfirmed')`
  yield* sql`CREATE TABLE notice_senders (
    id INTEGER PRIMARY KEY NOT NULL, token BIGINT NOT NULL, scanned_to BIGINT)`
  yield* sql`CREATE INDEX events_unsuccessful ON events (outcome_at) WHERE outcome IN ('failed', 'expired')`
})
