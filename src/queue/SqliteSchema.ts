/**
 * The tables of the SQLite queue. What is asked about active entries is known by heart (EntryIndex.ts), and so is which entry answers
 * for an event: an admission writes its row and no index whose keys come in no order, of which each commit would rewrite most
 * pages. That a target has at most one next entry is checked when the file is opened (SqliteTable.ts); for running ones an index
 * holds it too.
 */
import type { DatabaseSync } from "node:sqlite"

const schemaVersion = 3

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
  CREATE UNIQUE INDEX entries_running ON entries (target_key) WHERE status = 'running';
  CREATE INDEX entries_ended ON entries (admitted_at, id)
    WHERE status IN ('done', 'superseded', 'cancelled', 'expired', 'dead');
  CREATE TABLE pauses (
    scope TEXT NOT NULL, name TEXT NOT NULL, reason TEXT NOT NULL, since INTEGER NOT NULL, PRIMARY KEY (scope, name)
  ) WITHOUT ROWID;
  PRAGMA user_version = ${schemaVersion};
`

/** Of a connection that writes. What was answered is on disk. */
export const pragmas = `
  PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = ${checkpointPages}; PRAGMA cache_size = -${cacheKibibytes}`

/** Makes the tables in a new file, and those of an earlier release as they are now. Throws when the file is of a later one. */
export const prepare = (db: DatabaseSync): void => {
  const version = db.prepare("PRAGMA user_version").get()?.["user_version"]
  if (version === schemaVersion) return
  if (version === 2) {
    db.exec(
      `BEGIN IMMEDIATE; DROP INDEX entries_next; DROP TABLE entry_events; PRAGMA user_version = ${schemaVersion}; COMMIT`
    )
    return
  }
  if (version !== 0) throw new Error(`its version is ${String(version)}; this release knows version ${schemaVersion}`)
  db.exec(`BEGIN IMMEDIATE; ${ddl} COMMIT`)
}
