/**
 * Writes SQLite files of queues in a thread, so that the service's main thread does not wait for the disk. It executes requests in order; a
 * write is one transaction.
 *
 * Written in JavaScript and without imports of the service, because stripping types would take more memory than the rest of the thread.
 * Types are those of `SqliteWriter.ts`.
 *
 * @typedef {import("./SqliteWriter.ts").WriteRequest} WriteRequest
 * @typedef {import("./SqliteWriter.ts").WriteResponse} WriteResponse
 * @typedef {import("./SqliteWriter.ts").WriteFailure} WriteFailure
 * @typedef {import("node:sqlite").StatementSync} StatementSync
 *
 * @typedef {object} Prepared
 * @property {StatementSync} statement
 * @property {number} size number of values of one run
 *
 * @typedef {object} File
 * @property {DatabaseSync} db
 * @property {Readonly<Record<string, Prepared>>} statements
 * @property {number} logged rows written since the last checkpoint of this thread
 * @property {NodeJS.Timeout} idle
 */
import { DatabaseSync } from "node:sqlite"
import { parentPort } from "node:worker_threads"

/** Idle time in milliseconds after which a checkpoint is made, so that the next writer does not wait for it. */
const idleMillis = 1000
/** Number of written rows that justify a checkpoint. */
const manyRows = 1000

/** @type {Map<number, File>} */
const files = new Map()

/** @type {(request: Extract<WriteRequest, { action: "open" }>) => void} */
const open = ({ file, path, timeoutMillis, pragmas, statements }) => {
  const db = new DatabaseSync(path, { timeout: timeoutMillis })
  db.exec(pragmas)
  const prepared = Object.entries(statements).map(([name, sql]) => [
    name,
    { statement: db.prepare(sql), size: sql.split("?").length - 1 }
  ])
  /** @type {File} */
  const opened = {
    db,
    statements: Object.fromEntries(prepared),
    logged: 0,
    idle: setTimeout(() => checkpoint(opened), idleMillis)
  }
  files.set(file, opened)
}

/** @type {(file: File) => void} */
const checkpoint = (file) => {
  if (file.logged < manyRows) return
  file.logged = 0
  try {
    // A passive checkpoint does not wait for readers.
    file.db.exec("PRAGMA wal_checkpoint(PASSIVE)")
  } catch {
    // On a full disk the next write fails with the error.
  }
}

/** @type {(request: Extract<WriteRequest, { action: "write" }>) => void} */
const write = ({ file: number, changes }) => {
  const file = files.get(number)
  if (file === undefined) throw new Error("it is not open")
  const { db } = file
  // Completes a ROLLBACK that failed before.
  if (db.isTransaction) db.exec("ROLLBACK")
  db.exec("BEGIN IMMEDIATE")
  try {
    for (const change of changes) run(file, change)
    db.exec("COMMIT")
    file.idle.refresh()
  } catch (cause) {
    if (db.isTransaction) db.exec("ROLLBACK")
    throw cause
  }
}

/** @type {(file: File, change: Extract<WriteRequest, { action: "write" }>["changes"][number]) => void} */
const run = (file, { statement: name, values }) => {
  const { statement, size } = file.statements[name]
  if (size === 0) statement.run()
  else for (let at = 0; at < values.length; at += size) statement.run(...values.slice(at, at + size))
  file.logged += size === 0 ? 1 : values.length / size
}

/** @type {(request: Extract<WriteRequest, { action: "close" }>) => void} */
const close = ({ file: number }) => {
  const file = files.get(number)
  clearTimeout(file?.idle)
  files.delete(number)
  file?.db.close()
}

/** @type {(request: WriteRequest) => WriteFailure | undefined} */
const execute = (request) => {
  try {
    switch (request.action) {
      case "open":
        return open(request)
      case "write":
        return write(request)
      case "close":
        return close(request)
    }
  } catch (cause) {
    return failureOf(cause)
  }
}

/** @type {(cause: any) => WriteFailure} */
const failureOf = (cause) => ({
  message: String(cause?.message ?? cause),
  errcode: typeof cause?.errcode === "number" ? cause.errcode : undefined
})

parentPort?.on("message", (/** @type {WriteRequest} */ request) => {
  /** @type {WriteResponse} */
  const response = { id: request.id, failure: execute(request) }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(response)
})
