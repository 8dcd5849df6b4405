/** Defines the tables of the journal in SQLite (SqliteJournal.ts), its statements and settings, and the version of the file. */
import type { DatabaseSync } from "node:sqlite"
import { StoreError } from "../../database/StoreError.ts"

const schemaVersion = 1

/** A row of 1 KB costs two thirds of what it costs with SQLite's default of 4 KB, with 512 rows in a transaction. */
export const pageBytes = 16_384
/**
 * Size of the write-ahead log before a commit waits for a checkpoint: 130 MB exceed a burst of deliveries, and the next checkpoint runs
 * when the file is idle (SqliteWriterThread.js). With SQLite's default of 1000 pages of 4 KB a busy queue copies its pages every few
 * commits.
 */
const checkpointPages = 8000
const cacheKibibytes = 16_384

/** Pragmas of a writing connection. Every returned result is on disk. */
export const pragmas = `
  PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = ${checkpointPages}; PRAGMA cache_size = -${cacheKibibytes}`

const tables = `
  -- \`after\`: id of the message before it.
  CREATE TABLE messages (sequence INTEGER PRIMARY KEY, id TEXT NOT NULL, after TEXT NOT NULL, rows TEXT NOT NULL);
  CREATE TABLE details (entry TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
  -- The newest snapshot; its sequence names its pages.
  CREATE TABLE snapshot (only INTEGER PRIMARY KEY CHECK (only = 1), sequence INTEGER NOT NULL, id TEXT NOT NULL);
  CREATE TABLE pages (snapshot INTEGER NOT NULL, page INTEGER NOT NULL, rows TEXT NOT NULL, PRIMARY KEY (snapshot, page));
`

export const statements = {
  message: "INSERT INTO messages (sequence, id, after, rows) VALUES (?, ?, ?, ?)",
  removeMessages: "DELETE FROM messages WHERE sequence <= ?",
  details: "INSERT OR REPLACE INTO details (entry, text) VALUES (?, ?)",
  removeDetails: "DELETE FROM details WHERE entry = ?",
  snapshot: "INSERT OR REPLACE INTO snapshot (only, sequence, id) VALUES (1, ?, ?)",
  page: "INSERT INTO pages (snapshot, page, rows) VALUES (?, ?, ?)",
  removeOtherPages: "DELETE FROM pages WHERE snapshot NOT IN (SELECT sequence FROM snapshot)"
} as const

/** A statement with the values of all its runs in sequence. One without parameters runs once. */
export interface SqliteChange {
  readonly statement: keyof typeof statements
  readonly values: ReadonlyArray<string | number>
}

const versionOf = (db: DatabaseSync): number => Number(db.prepare("PRAGMA user_version").get()?.["user_version"])

const otherVersion = (version: number) =>
  new StoreError({
    reason: "unavailable",
    operation: "open",
    why: { _tag: "QueueFileOfOtherBuild", version, known: schemaVersion }
  })

/** Creates the tables in a new file. Throws if another release wrote the file. */
export const prepare = (db: DatabaseSync): void => {
  const version = versionOf(db)
  if (version === schemaVersion) return
  if (version !== 0) throw otherVersion(version)
  db.exec("BEGIN IMMEDIATE")
  try {
    db.exec(tables)
    db.exec(`PRAGMA user_version = ${schemaVersion}; COMMIT`)
  } catch (cause) {
    if (db.isTransaction) db.exec("ROLLBACK")
    throw cause
  }
}

/** Throws if another release wrote the file. */
export const verifyVersion = (db: DatabaseSync): void => {
  const version = versionOf(db)
  if (version !== schemaVersion) throw otherVersion(version)
}
