/**
 * Creates batches of automatic commits (Batches), routing receipts (Receipts) and the last fires of schedules (Schedules). `change` is
 * JSON: the newest push of the batch with the range of all. A stream has at most one open batch.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE batches (
    id TEXT PRIMARY KEY NOT NULL,
    stream TEXT NOT NULL,
    workspace TEXT NOT NULL,
    change TEXT NOT NULL,
    config_hash TEXT NOT NULL,
    priority INTEGER NOT NULL,
    status TEXT NOT NULL,
    commits BIGINT NOT NULL,
    first_at BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    entry_id TEXT,
    reason TEXT,
    run_id TEXT,
    finished_at BIGINT
  )`
  yield* sql`CREATE UNIQUE INDEX batches_open ON batches (stream) WHERE status = 'open'`
  yield* sql`CREATE INDEX batches_unfinished ON batches (stream, id) WHERE finished_at IS NULL`
  yield* sql`CREATE INDEX batches_age ON batches (id) WHERE finished_at IS NULL`
  yield* sql`CREATE INDEX batches_entry ON batches (entry_id)`
  yield* sql`CREATE INDEX batches_workspace ON batches (workspace, id)`
  yield* sql`CREATE INDEX batches_finished ON batches (first_at, id) WHERE finished_at IS NOT NULL`
  yield* sql`CREATE TABLE batch_members (
    event_id TEXT PRIMARY KEY NOT NULL,
    batch_id TEXT NOT NULL,
    before_id TEXT,
    after_id TEXT NOT NULL,
    commits BIGINT NOT NULL,
    received_at BIGINT NOT NULL,
    status TEXT NOT NULL
  )`
  yield* sql`CREATE INDEX batch_members_batch ON batch_members (batch_id, event_id)`

  yield* sql`ALTER TABLE events ADD COLUMN routing TEXT`
  yield* sql`CREATE INDEX events_unrouted ON events (id) WHERE routing IS NOT NULL AND outcome IS NULL`

  yield* sql`CREATE TABLE schedules (
    id TEXT PRIMARY KEY NOT NULL,
    last_fire BIGINT NOT NULL
  )`
})
