/**
 * The tables of the SQLite queue. Two unique indexes hold the rule that a target has at most one next and one running entry,
 * whatever the code above does; the partial ones keep lookups independent of how many entries have ended.
 */
import type { DatabaseSync } from "node:sqlite"

const schemaVersion = 1

const ddl = `
  CREATE TABLE entries (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    workspace TEXT NOT NULL,
    target_key TEXT NOT NULL,
    change TEXT NOT NULL,
    config_hash TEXT NOT NULL,
    priority INTEGER NOT NULL,
    status TEXT NOT NULL,
    admitted_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    reason TEXT,
    token INTEGER NOT NULL,
    lease_until INTEGER,
    owner TEXT
  );
  CREATE UNIQUE INDEX entries_next ON entries (target_key) WHERE status IN ('waiting', 'ready');
  CREATE UNIQUE INDEX entries_running ON entries (target_key) WHERE status = 'running';
  CREATE INDEX entries_active ON entries (workspace) WHERE status IN ('waiting', 'ready', 'running');
  CREATE INDEX entries_waiting ON entries (admitted_at) WHERE status = 'waiting';
  CREATE INDEX entries_ended ON entries (admitted_at, id)
    WHERE status IN ('done', 'superseded', 'cancelled', 'expired', 'dead');
  CREATE TABLE entry_events (event_id TEXT PRIMARY KEY, entry_id TEXT NOT NULL) WITHOUT ROWID;
  CREATE INDEX entry_events_entry ON entry_events (entry_id);
  PRAGMA user_version = ${schemaVersion};
`

/** Makes the tables in a new file. Throws when the file is of a newer release. */
export const prepare = (db: DatabaseSync): void => {
  const version = db.prepare("PRAGMA user_version").get()?.["user_version"]
  if (version === schemaVersion) return
  if (version !== 0) throw new Error(`its version is ${String(version)}; this release knows version ${schemaVersion}`)
  db.exec(`BEGIN IMMEDIATE; ${ddl} COMMIT`)
}
