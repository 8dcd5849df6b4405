/**
 * The tables of the SQLite queue. Two unique indexes hold the rule that a target has at most one next and one running entry,
 * whatever the code above does; the partial ones keep lookups independent of how many entries have ended. There is no index
 * of what waits by due time or repository: that is kept in memory (Schedule.ts), which spares every admission the writes.
 */
import type { DatabaseSync } from "node:sqlite"

const schemaVersion = 2

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
    losses INTEGER NOT NULL DEFAULT 0,
    expires INTEGER NOT NULL DEFAULT 0,
    reason TEXT,
    token INTEGER NOT NULL,
    lease_until INTEGER,
    owner TEXT,
    cancel_requested TEXT
  );
  CREATE UNIQUE INDEX entries_next ON entries (target_key) WHERE status IN ('waiting', 'ready');
  CREATE UNIQUE INDEX entries_running ON entries (target_key) WHERE status = 'running';
  CREATE INDEX entries_active ON entries (workspace) WHERE status IN ('waiting', 'ready', 'running');
  CREATE INDEX entries_waiting ON entries (admitted_at) WHERE status = 'waiting';
  CREATE INDEX entries_ended ON entries (admitted_at, id)
    WHERE status IN ('done', 'superseded', 'cancelled', 'expired', 'dead');
  CREATE TABLE entry_events (event_id TEXT PRIMARY KEY, entry_id TEXT NOT NULL) WITHOUT ROWID;
  CREATE INDEX entry_events_entry ON entry_events (entry_id);
`

const pauses = `
  CREATE TABLE pauses (
    scope TEXT NOT NULL, name TEXT NOT NULL, reason TEXT NOT NULL, since INTEGER NOT NULL, PRIMARY KEY (scope, name)
  ) WITHOUT ROWID;
`

/** What makes a file of the version before into one of this version, by the version before. */
const upgrades: Readonly<Record<number, string>> = {
  1: `
    ALTER TABLE entries ADD COLUMN losses INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE entries ADD COLUMN expires INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE entries ADD COLUMN cancel_requested TEXT;
    UPDATE entries SET expires = 1 WHERE priority >= 20;
    ${pauses}`
}

/** Makes the tables in a new file, or brings an older one up to date. Throws when the file is of a newer release. */
export const prepare = (db: DatabaseSync): void => {
  const version = Number(db.prepare("PRAGMA user_version").get()?.["user_version"])
  if (version === schemaVersion) return
  const steps = version === 0 ? ddl + pauses : upgrades[version]
  if (steps === undefined) throw new Error(`its version is ${version}; this release knows version ${schemaVersion}`)
  db.exec(`BEGIN IMMEDIATE; ${steps} PRAGMA user_version = ${schemaVersion}; COMMIT`)
}
