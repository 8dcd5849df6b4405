/**
 * Opens SQLite files: write-ahead log, every commit synced to disk, private to its user. The record store and the SQLite queue open their
 * files here; `explain` converts SQLite's result codes to reasons.
 */
import { closeSync, openSync } from "node:fs"
import { dirname } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { Effect } from "effect"
import { hasProperty } from "effect/Predicate"
import type { Scope } from "effect"
import { makeFolder } from "../MakeFolder.ts"
import { StoreError } from "../StoreError.ts"
import { verbatimReason } from "../../domain/Reason.ts"
import type { Reason, ReasonTag } from "../../domain/Reason.ts"
import { withoutPeriod } from "../../domain/Text.ts"

/** Milliseconds that a statement waits for another process's lock. Short, because it may block the event loop. */
export const busyTimeoutMillis = 2000

/**
 * Opens `path` (or ":memory:") for reading and writing, with its parent folders (0700), until the scope closes. A new file gets pages of
 * `pageBytes` (default: SQLite's).
 */
export const openDatabase = (path: string, pageBytes?: number): Effect.Effect<DatabaseSync, StoreError, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.try({
      try: () => open(path, pageBytes),
      catch: (cause) => new StoreError({ reason: "unavailable", operation: "open", why: explain(cause, path) })
    }),
    (db) => Effect.sync(() => db.close())
  )

const open = (path: string, pageBytes: number | undefined): DatabaseSync => {
  if (path !== ":memory:") {
    makeFolder(dirname(path))
    // SQLite gives its -wal and -shm files the permissions of the database file.
    closeSync(openSync(path, "a", 0o600))
  }
  const db = new DatabaseSync(path, { timeout: busyTimeoutMillis, enableForeignKeyConstraints: true })
  try {
    if (pageBytes !== undefined) db.exec(`PRAGMA page_size = ${pageBytes}`)
    db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
    // Fails now, and not at the first webhook, if the file is not writable.
    db.exec("BEGIN IMMEDIATE; ROLLBACK")
    return db
  } catch (cause) {
    db.close()
    throw cause
  }
}

/** Returns SQLite's primary result code of an error from node:sqlite or from a thread. */
export const resultCode = (cause: unknown): number | undefined =>
  hasProperty(cause, "errcode") && typeof cause.errcode === "number" ? cause.errcode & 0xff : undefined

/** Returns what happened to which file and the next step, for an operator. */
export const explain = (cause: unknown, path: string): Reason => {
  const said = hasProperty(cause, "message") ? String(cause.message) : String(cause)
  const code = resultCode(cause)
  const next = (code === undefined ? undefined : remedies[code]) ?? "SqlitePathNext"
  return {
    _tag: "SqliteFails",
    path,
    why: cause instanceof StoreError ? cause.why : verbatimReason(withoutPeriod(said)),
    next: { _tag: next }
  }
}

const remedies: Readonly<Record<number, SqliteNext>> = {
  5: "SqliteLockNext",
  8: "SqliteReadOnlyNext",
  10: "SqliteDiskNext",
  11: "SqliteDamagedNext",
  13: "SqliteFullNext",
  26: "SqliteFormatNext"
}

type SqliteNext = Extract<ReasonTag, `Sqlite${string}Next`>
