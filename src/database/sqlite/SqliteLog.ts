/**
 * Syncs the write-ahead log of a SQLite connection outside the event loop. With `synchronous = NORMAL` a commit writes the log without a
 * sync (only the first commit after a checkpoint syncs its header), and a checkpoint syncs it before it copies pages. The caller of a
 * commit waits for `sync`, which runs in the thread pool of libuv.
 *
 * SQLite locks the database and its -shm file and never the log, so closing this descriptor releases no lock of SQLite. The log keeps its
 * file while the connection is open: only the last connection removes it.
 */
import { closeSync, fdatasync, fdatasyncSync, openSync, realpathSync } from "node:fs"
import type { DatabaseSync } from "node:sqlite"
import { Effect } from "effect"
import type { Scope } from "effect"
import { explain } from "./SqliteDatabase.ts"
import { StoreError } from "../StoreError.ts"

/** Makes what was written to a file durable. */
export interface FileSync {
  readonly inPool: (descriptor: number, done: (error: Error | null) => void) => void
  readonly onThread: (descriptor: number) => void
}
const fileSync: FileSync = { inPool: fdatasync, onThread: fdatasyncSync }

/** Error in the format of node:sqlite; `errcode` is SQLite's result code. */
interface SyncFailure {
  readonly message: string
  readonly errcode: number
}

export interface SqliteLog {
  /** Succeeds when everything that was written before is on disk. Uninterruptible. */
  readonly sync: Effect.Effect<void, SyncFailure>
  /** The same, on this thread. */
  readonly syncOnThread: Effect.Effect<void, SyncFailure>
  /**
   * Returns the first failure. From then on the content of the disk is undetermined: the kernel may drop what it could not write, and a
   * later sync succeeds without it. So nothing may be read or written with this connection.
   */
  readonly failure: () => SyncFailure | undefined
}

/** A database in memory, or on a file system without shared memory: SQLite itself syncs each commit of the latter. */
const unneeded: SqliteLog = { sync: Effect.void, syncOnThread: Effect.void, failure: () => undefined }

/** Opens the log of `db` until the scope closes, and leaves the syncs of commits to the caller. */
export const openLog = (
  db: DatabaseSync,
  path: string,
  files: FileSync = fileSync
): Effect.Effect<SqliteLog, StoreError, Scope.Scope> =>
  Effect.gen(function* () {
    if (db.prepare("PRAGMA journal_mode").get()?.["journal_mode"] !== "wal") return unneeded
    const file = yield* Effect.acquireRelease(
      Effect.try({
        try: () => {
          db.exec("PRAGMA synchronous = NORMAL")
          // SQLite creates the log next to the target of a symbolic link.
          return new LogFile(openSync(`${realpathSync(path)}-wal`, "r+"), files)
        },
        catch: (cause) => new StoreError({ reason: "unavailable", operation: "open", why: explain(cause, path) })
      }),
      (opened) => opened.close
    )
    return { sync: file.sync, syncOnThread: file.syncOnThread, failure: () => file.failure }
  })

class LogFile {
  failure: SyncFailure | undefined
  readonly #descriptor: number
  readonly #files: FileSync
  #running = 0
  #isClosing = false
  #onIdle: (() => void) | undefined

  constructor(descriptor: number, files: FileSync) {
    this.#descriptor = descriptor
    this.#files = files
  }

  readonly sync = Effect.uninterruptible(
    Effect.callback<void, SyncFailure>((resume) => {
      if (this.#isClosing) return resume(Effect.fail(closed))
      this.#running += 1
      this.#files.inPool(this.#descriptor, (error) => {
        this.#running -= 1
        if (error !== null) this.failure ??= toFailure(error)
        // Before the caller resumes, which may close the log.
        if (this.#running === 0) this.#onIdle?.()
        resume(this.failure === undefined ? Effect.void : Effect.fail(this.failure))
      })
    })
  )

  readonly syncOnThread = Effect.suspend(() => {
    if (this.#isClosing) return Effect.fail(closed)
    try {
      this.#files.onThread(this.#descriptor)
    } catch (cause) {
      this.failure ??= toFailure(cause instanceof Error ? cause : new Error(String(cause)))
    }
    return this.failure === undefined ? Effect.void : Effect.fail(this.failure)
  })

  /** Waits for a sync that is running; later ones fail. */
  readonly close = Effect.callback<void>((resume) => {
    this.#isClosing = true
    this.#onIdle = () => {
      closeSync(this.#descriptor)
      resume(Effect.void)
    }
    if (this.#running === 0) this.#onIdle()
  })
}

const notSynced = "a commit could not be synced to disk"
const [diskError, diskFull, misuse] = [10, 13, 21]
const closed: SyncFailure = {
  message: `${notSynced} (the database is being closed)`,
  errcode: misuse
}
const fullDisk = new Set(["ENOSPC", "EDQUOT"])

const toFailure = (error: Error): SyncFailure => ({
  message: `${notSynced} (${error.message}); statements are refused until the process is restarted`,
  errcode: "code" in error && fullDisk.has(String(error.code)) ? diskFull : diskError
})
