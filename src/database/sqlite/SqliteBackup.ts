/**
 * Copies a SQLite file to a backup while another process writes it, and puts a backup in its place. Both write to a new file first, so that
 * a failure or a crash in between does not change the destination.
 */
import { chmodSync, closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs"
import { copyFile } from "node:fs/promises"
import { dirname } from "node:path"
import { DatabaseSync, backup } from "node:sqlite"
import { Effect } from "effect"
import { makeFolder } from "../MakeFolder.ts"
import { StoreError } from "../StoreError.ts"
import { explain } from "./SqliteDatabase.ts"

const failed = (operation: string, path: string) => (cause: unknown) =>
  new StoreError({ reason: "unavailable", operation, why: explain(cause, path) })

/** Makes the content of a file and its name durable. */
const sync = (path: string): void => {
  for (const one of [path, dirname(path)]) {
    const descriptor = openSync(one, "r")
    try {
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
  }
}

/** Files of SQLite next to a database that belong to its present content. */
const companions = (path: string): ReadonlyArray<string> => [`${path}-wal`, `${path}-shm`]

/** Copies the last committed state of `path` to the new file `to`. */
export const backUp = (path: string, to: string): Effect.Effect<void, StoreError> =>
  Effect.tryPromise({
    try: async () => {
      const part = `${to}.part`
      rmSync(part, { force: true })
      closeSync(openSync(part, "wx", 0o600))
      const source = new DatabaseSync(path, { readOnly: true })
      try {
        await backup(source, part)
      } finally {
        source.close()
      }
      // A backup is one file: it needs no log of its own.
      const copy = new DatabaseSync(part)
      copy.exec("PRAGMA journal_mode = DELETE")
      copy.close()
      sync(part)
      renameSync(part, to)
      sync(to)
    },
    catch: failed("back up", path)
  })

/** Returns whether a file is an undamaged database of records. */
export const isUsable = (path: string): boolean => {
  try {
    const database = new DatabaseSync(path, { readOnly: true })
    try {
      const migrated = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'aicr_migrations'").get()
      const check = database.prepare("PRAGMA quick_check(1)").get()
      return migrated !== undefined && check?.["quick_check"] === "ok"
    } finally {
      database.close()
    }
  } catch {
    return false
  }
}

/** Puts a copy of the backup `from` at `path`. The file that was there is kept as `replaced`. */
export const restore = (from: string, path: string, replaced: string): Effect.Effect<void, StoreError> =>
  Effect.tryPromise({
    try: async () => {
      const part = `${path}.part`
      makeFolder(dirname(path))
      await copyFile(from, part)
      chmodSync(part, 0o600)
      sync(part)
      if (existsSync(path)) {
        // Opening and closing it writes its log into the file.
        new DatabaseSync(path).close()
        renameSync(path, replaced)
      }
      for (const companion of companions(path)) rmSync(companion, { force: true })
      renameSync(part, path)
      sync(path)
    },
    catch: failed("restore", path)
  })
