/**
 * The tables of the SQLite queue. Two unique indexes hold the rule that a target has at most one next and one running entry,
 * whatever the code above does. Everything else about active entries is known by heart (EntryIndex.ts), which spares an
 * admission the writes of five more indexes.
 */
import type { DatabaseSync } from "node:sqlite"

const schemaVersion = 2

/** Measured with rows of 1 KB, 512 in a transaction: 7 us a row, with SQLite's 4 KB pages and a table with rowids 11 us. */
export const pageBytes = 16_384
/** 40 MB of log between checkpoints. With SQLite's own 1000 pages of 4 KB a busy queue copies its pages every few commits. */
const checkpointPages = 2500
const cacheKibibytes = 16_384

const ddl = `
  CREATE TABLE entries (
    id TEXT PRIMARY KEY,
    workspace TEXT NOT NULL,
    target_key TEXT NOT NULL,
    change TEXT NOT NULL,
    config_hash TEXT NOT NULL,
    priority INTEGER NOT NULL,
    status TEXT NOT NULL,
    events TEXT NOT NULL,
    admitted_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    losses INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    reason TEXT,
    token INTEGER NOT NULL,
    lease_until INTEGER,
    owner TEXT,
    cancel_requested TEXT
  ) WITHOUT ROWID;
  CREATE UNIQUE INDEX entries_next ON entries (target_key) WHERE status IN ('waiting', 'ready');
  CREATE UNIQUE INDEX entries_running ON entries (target_key) WHERE status = 'running';
  CREATE INDEX entries_ended ON entries (admitted_at, id)
    WHERE status IN ('done', 'superseded', 'cancelled', 'expired', 'dead');
  CREATE TABLE entry_events (event_id TEXT PRIMARY KEY, entry_id TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE pauses (
    scope TEXT NOT NULL, name TEXT NOT NULL, reason TEXT NOT NULL, since INTEGER NOT NULL, PRIMARY KEY (scope, name)
  ) WITHOUT ROWID;
  PRAGMA user_version = ${schemaVersion};
`

/** Makes the tables in a new file. Throws when the file is of another release. */
export const prepare = (db: DatabaseSync): void => {
  db.exec(`PRAGMA wal_autocheckpoint = ${checkpointPages}; PRAGMA cache_size = -${cacheKibibytes}`)
  const version = db.prepare("PRAGMA user_version").get()?.["user_version"]
  if (version === schemaVersion) return
  if (version !== 0) throw new Error(`its version is ${String(version)}; this release knows version ${schemaVersion}`)
  db.exec(`BEGIN IMMEDIATE; ${ddl} COMMIT`)
}
