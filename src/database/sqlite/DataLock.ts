/**
 * Locks a data folder for one process. The lock is an exclusive transaction on a tiny SQLite file, so that the operating system releases it
 * however the process ends, and no stale lock remains.
 */
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { Effect, Layer } from "effect"
import type { Scope } from "effect"
import type { Reason } from "../../domain/Reason.ts"
import { makeFolder } from "../MakeFolder.ts"
import { explain, resultCode } from "./SqliteDatabase.ts"
import { StoreError } from "../StoreError.ts"

const busy = 5

/** Holds the lock of `folder` while the layer lives. Fails immediately if another process has it. */
export const layer = (folder: string): Layer.Layer<never, StoreError> =>
  Layer.effectDiscard(acquire(join(folder, ".lock"), { _tag: "DataFolderTaken", folder }))

/** Holds `lockFile` until the scope closes; `taken` is the reason if another process has it. */
export const acquire = (lockFile: string, taken: Reason): Effect.Effect<void, StoreError, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.try({
      try: () => open(lockFile),
      catch: (cause) =>
        new StoreError({
          reason: "unavailable",
          operation: "lock",
          why: resultCode(cause) === busy ? taken : explain(cause, lockFile)
        })
    }),
    (db) => Effect.sync(() => db.close())
  )

const open = (lockFile: string): DatabaseSync => {
  makeFolder(dirname(lockFile))
  const db = new DatabaseSync(lockFile, { timeout: 0 })
  try {
    db.exec("BEGIN EXCLUSIVE")
    return db
  } catch (cause) {
    db.close()
    throw cause
  }
}
