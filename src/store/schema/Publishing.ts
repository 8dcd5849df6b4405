/**
 * Tables of publishing: publications and the publishers of targets (Outbox), batches of automatic commits (Batches), notices to operators
 * (Notices). `publications.seq` is the order of sending; `operation` is JSON and `kind` its tag; `posted`, `listed`, `reactions` and `ignored_dismissals` are JSON,
 * null if there were none; `head` is set for commit statuses, of which one of a commit is being sent at a time. `publishers.token` invalidates older publishers of the target; `starts` counts them since a row was completed.
 * `batches.change` is JSON: the newest push of the batch with the range of all; a stream has at most one open batch. `notice_senders` has a
 * single row: the number of the current sender, and the time up to which ended deliveries were scanned.
 */
import type { Statements } from "./Dialect.ts"

export const publishing: Statements = (dialect) => [
  `CREATE TABLE publications (
    seq ${dialect === "sqlite" ? "INTEGER PRIMARY KEY AUTOINCREMENT" : "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"},
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
    updated_at BIGINT NOT NULL,
    ignored_dismissals TEXT,
    reactions TEXT,
    posted TEXT,
    listed TEXT,
    head TEXT
  )`,
  `CREATE INDEX publications_open ON publications (target_key, seq)
    WHERE status IN ('pending', 'sending', 'unknown')`,
  "CREATE INDEX publications_run ON publications (run_id, position)",
  "CREATE INDEX publications_sent ON publications (target_key, channel, kind, seq) WHERE status = 'sent'",
  "CREATE INDEX publications_head ON publications (head) WHERE head IS NOT NULL",
  "CREATE UNIQUE INDEX publications_writing ON publications (head) WHERE status = 'sending' AND head IS NOT NULL",
  `CREATE TABLE publishers (
    target_key TEXT PRIMARY KEY NOT NULL,
    token BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    starts BIGINT NOT NULL DEFAULT 0
  )`
]

export const batches: Statements = () => [
  `CREATE TABLE batches (
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
  )`,
  "CREATE UNIQUE INDEX batches_open ON batches (stream) WHERE status = 'open'",
  "CREATE INDEX batches_unfinished ON batches (stream, id) WHERE finished_at IS NULL",
  "CREATE INDEX batches_age ON batches (id) WHERE finished_at IS NULL",
  "CREATE INDEX batches_entry ON batches (entry_id)",
  "CREATE INDEX batches_workspace ON batches (workspace, id)",
  "CREATE INDEX batches_finished ON batches (first_at, id) WHERE finished_at IS NOT NULL",
  `CREATE TABLE batch_members (
    event_id TEXT PRIMARY KEY NOT NULL,
    batch_id TEXT NOT NULL,
    before_id TEXT,
    after_id TEXT NOT NULL,
    commits BIGINT NOT NULL,
    received_at BIGINT NOT NULL,
    status TEXT NOT NULL,
    covers TEXT
  )`,
  "CREATE INDEX batch_members_batch ON batch_members (batch_id, event_id)",
  "CREATE INDEX batch_members_after ON batch_members (after_id)",
  "CREATE INDEX batch_members_found ON batch_members (batch_id) WHERE covers IS NOT NULL"
]

/** One notice per key and channel. */
export const notices: Statements = () => [
  `CREATE TABLE notices (
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
  )`,
  "CREATE UNIQUE INDEX notices_key ON notices (notice_key, channel)",
  "CREATE INDEX notices_open ON notices (id) WHERE status IN ('pending', 'sending')",
  "CREATE INDEX notices_sent ON notices (channel, updated_at) WHERE status IN ('sent', 'unconfirmed')",
  "CREATE TABLE notice_senders (id INTEGER PRIMARY KEY NOT NULL, token BIGINT NOT NULL, scanned_to BIGINT)"
]
