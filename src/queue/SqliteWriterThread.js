/**
 * The thread that writes SQLite files of queues, so that the service's own thread waits for no disk. It does what it is asked in order; a
 * write is one transaction. When one fails, so do those that were asked for before that was known (of the same epoch).
 *
 * JavaScript, and without imports of ours: a thread that has to strip types takes more memory for that than for all the rest. Types are
 * those of `SqliteWriter.ts`.
 *
 * @typedef {import("./SqliteWriter.ts").Question} Question
 * @typedef {import("./SqliteWriter.ts").Answer} Answer
 * @typedef {import("./SqliteWriter.ts").Failure} Failure
 * @typedef {import("node:sqlite").StatementSync} StatementSync
 *
 * @typedef {object} Prepared
 * @property {StatementSync} statement
 * @property {number} size how many values one run takes
 *
 * @typedef {object} File
 * @property {DatabaseSync} db
 * @property {Readonly<Record<string, Prepared>>} statements
 * @property {{ readonly epoch: number; readonly failure: Failure } | undefined} failed
 * @property {number} logged rows written since the last checkpoint made here
 * @property {NodeJS.Timeout} idle
 */
import { DatabaseSync } from "node:sqlite"
import { parentPort } from "node:worker_threads"

/** After a storm a checkpoint is made when nobody has written for so long: who writes next does not wait for it. */
const idleMillis = 1000
/** Rows that are worth a checkpoint. */
const manyRows = 1000

/** @type {Map<number, File>} */
const files = new Map()

/** @type {(question: Extract<Question, { do: "open" }>) => void} */
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
    failed: undefined,
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
    // Waits for nobody who reads.
    file.db.exec("PRAGMA wal_checkpoint(PASSIVE)")
  } catch {
    // A disk that is full fails the next write, which says so.
  }
}

/** @type {(question: Extract<Question, { do: "write" }>) => Failure | undefined} */
const write = ({ file: number, epoch, changes }) => {
  const file = files.get(number)
  if (file === undefined) return { message: "it is not open", errcode: undefined }
  if (file.failed?.epoch === epoch) return file.failed.failure
  if (changes.length === 0) return undefined
  try {
    transact(file, changes)
    file.idle.refresh()
    return undefined
  } catch (cause) {
    file.failed = { epoch, failure: failureOf(cause) }
    return file.failed.failure
  }
}

/** @type {(file: File, changes: Extract<Question, { do: "write" }>["changes"]) => void} */
const transact = (file, changes) => {
  const { db, statements } = file
  // A ROLLBACK that was refused is made up for before anything else.
  if (db.isTransaction) db.exec("ROLLBACK")
  db.exec("BEGIN IMMEDIATE")
  try {
    for (const { statement: name, values } of changes) {
      const { statement, size } = statements[name]
      for (let at = 0; at < values.length; at += size) statement.run(...values.slice(at, at + size))
      file.logged += values.length / size
    }
    db.exec("COMMIT")
  } catch (cause) {
    if (db.isTransaction) db.exec("ROLLBACK")
    throw cause
  }
}

/** @type {(question: Extract<Question, { do: "close" }>) => void} */
const close = ({ file: number }) => {
  const file = files.get(number)
  clearTimeout(file?.idle)
  files.delete(number)
  file?.db.close()
}

/** @type {(question: Question) => Failure | undefined} */
const carryOut = (question) => {
  try {
    switch (question.do) {
      case "open":
        return open(question)
      case "write":
        return write(question)
      case "close":
        return close(question)
    }
  } catch (cause) {
    return failureOf(cause)
  }
}

/** @type {(cause: any) => Failure} */
const failureOf = (cause) => ({
  message: String(cause?.message ?? cause),
  errcode: typeof cause?.errcode === "number" ? cause.errcode : undefined
})

parentPort?.on("message", (/** @type {Question} */ question) => {
  /** @type {Answer} */
  const answer = { id: question.id, failure: carryOut(question) }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(answer)
})
