/**
 * Tables of deliveries: event records (Receipts), bodies of the newest ones (Payloads), replays, rejected signatures, base branches of pull
 * requests (PullBases) and executed schedules (Schedules). `events.work` is JSON, present if the delivery was accepted; `seq` is the order of
 * commits. Deliveries arrive in bursts, so that lists have a single index with every column that they select by: it grows at its end, and
 * reading a hundred thousand of its entries takes less time than reading as many records. Texts that people search for have another one, so that
 * lists do not read them.
 */
import type { Statements } from "./Dialect.ts"

export const deliveries: Statements = (dialect) => [
  `CREATE TABLE events (
    seq ${dialect === "sqlite" ? "INTEGER PRIMARY KEY" : "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"},
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
    run_id TEXT,
    routing TEXT,
    number BIGINT,
    head TEXT,
    branch TEXT,
    author TEXT,
    sender TEXT,
    pusher TEXT,
    command TEXT,
    title TEXT,
    rule TEXT,
    search TEXT,
    duplicates BIGINT,
    duplicated_at BIGINT
  )`,
  // In SQLite the one process that owns the file keeps keys unique (IndexedDeliveries.ts), for less than the cost of an index.
  ...(dialect === "postgres" ? ["CREATE UNIQUE INDEX events_delivery ON events (delivery_key)"] : []),
  "CREATE INDEX events_unsettled ON events (seq) WHERE work IS NOT NULL AND outcome IS NULL",
  "CREATE INDEX events_unrouted ON events (id) WHERE routing IS NOT NULL AND outcome IS NULL",
  "CREATE INDEX events_reported ON events (head) WHERE routing IS NOT NULL",
  "CREATE INDEX events_number ON events (number, seq) WHERE number IS NOT NULL",
  `CREATE INDEX events_list ON events
    (id, decision, reason, outcome, workspace, trigger_name, provider, repo, target_key, number, received_at)`,
  // Searches read the index only.
  "CREATE INDEX events_search ON events (id, search)",
  "CREATE INDEX events_closed ON events (received_at) WHERE reason = 'closed' AND outcome IS NULL",
  "CREATE INDEX events_unsuccessful ON events (outcome_at) WHERE outcome IN ('failed', 'expired')",

  `CREATE TABLE delivery_payloads (
    event_id TEXT PRIMARY KEY NOT NULL, received_at BIGINT NOT NULL, path TEXT NOT NULL, headers TEXT NOT NULL,
    body TEXT NOT NULL, bytes BIGINT NOT NULL, cut INTEGER NOT NULL, admits TEXT NOT NULL, replay_of TEXT)`,
  "CREATE INDEX delivery_payloads_age ON delivery_payloads (received_at, event_id)",
  "CREATE TABLE delivery_replays (event_id TEXT PRIMARY KEY NOT NULL, replay_of TEXT NOT NULL)",
  "CREATE INDEX delivery_replays_original ON delivery_replays (replay_of, event_id)",

  // Numbers of deliveries with a wrong signature, per trigger and hour, by class of address.
  `CREATE TABLE rejected_signatures (
    hour BIGINT NOT NULL, trigger_name TEXT NOT NULL, provider TEXT NOT NULL, from_loopback BIGINT NOT NULL,
    from_private BIGINT NOT NULL, from_public BIGINT NOT NULL, last_at BIGINT NOT NULL, PRIMARY KEY (hour, trigger_name))`,

  // `repo` is case-folded.
  `CREATE TABLE pull_bases (
    trigger_name TEXT NOT NULL,
    repo TEXT NOT NULL,
    pull_number BIGINT NOT NULL,
    base_ref TEXT NOT NULL,
    seen_at BIGINT NOT NULL,
    PRIMARY KEY (trigger_name, repo, pull_number)
  )`,
  "CREATE INDEX pull_bases_age ON pull_bases (seen_at)",

  "CREATE TABLE schedules (id TEXT PRIMARY KEY NOT NULL, last_fire BIGINT NOT NULL)"
]
