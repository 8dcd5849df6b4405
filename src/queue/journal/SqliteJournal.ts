/**
 * The journal in a SQLite file (`queue.sqlite.path`, tables: SqliteSchema.ts). One process owns the file and holds its lock, so nothing
 * conflicts. Messages are written by a thread (SqliteWriter.ts) and are on disk before an append succeeds. Other processes may read: they
 * see the queue as of the moment in which they open the file.
 */
import { DatabaseSync } from "node:sqlite"
import { Effect, Option } from "effect"
import type { Scope } from "effect"
import * as DataLock from "../../database/sqlite/DataLock.ts"
import type { Reason } from "../../domain/Reason.ts"
import { busyTimeoutMillis, explain, openDatabase } from "../../database/sqlite/SqliteDatabase.ts"
import { QueueError } from "../Queue.ts"
import { JournalError, journalStart } from "./Journal.ts"
import type { Journal, JournalChanges, JournalPosition, JournalRecord } from "./Journal.ts"
import { pageBytes, pragmas, prepare, statements, verifyVersion } from "./SqliteSchema.ts"
import type { SqliteChange } from "./SqliteSchema.ts"
import * as SqliteWriter from "./SqliteWriter.ts"

/** Opens the file for this process alone. Creates it if it is missing. */
export const makeSqliteJournal = Effect.fnUntraced(function* (
  path: string
): Effect.fn.Return<Journal, QueueError, Scope.Scope> {
  const unavailable = (cause: unknown) => new QueueError({ reason: "unavailable", why: explain(cause, path) })
  const taken: Reason = { _tag: "QueueTaken", path }
  const db = yield* Effect.andThen(DataLock.acquire(`${path}.lock`, taken), openDatabase(path, pageBytes)).pipe(
    Effect.mapError(({ why }) => new QueueError({ reason: "unavailable", why }))
  )
  const tables = yield* Effect.try({
    try: () => {
      prepare(db)
      return new JournalTables(db, path)
    },
    catch: unavailable
  })
  const opened = SqliteWriter.open({ path, pragmas, statements, timeoutMillis: busyTimeoutMillis })
  const writer = yield* Effect.mapError(opened, unavailable)
  const write = (changes: ReadonlyArray<SqliteChange>) =>
    Effect.mapError(
      writer.write(changes),
      (cause) => new JournalError({ reason: "refused", why: explain(cause, path) })
    )
  let last = yield* Effect.try({ try: () => tables.last(), catch: unavailable })
  return {
    ...tables.reads,
    last: Effect.sync(() => last),
    append: Effect.fnUntraced(function* (id, changes, known) {
      if (known.sequence !== last.sequence || known.id !== last.id) return { _tag: "Conflict", missed: [] }
      const position = { sequence: last.sequence + 1, id }
      yield* write(toStatements(position, last, changes))
      last = position
      return { _tag: "Appended", position, missed: [] }
    }),
    trim: Effect.fnUntraced(function* (position, nextPage) {
      // Of a snapshot that was not completed.
      yield* write([{ statement: "removeOtherPages", values: [] }])
      let page = 0
      for (let next = yield* nextPage; Option.isSome(next); next = yield* nextPage)
        yield* write([{ statement: "page", values: [position.sequence, ++page, next.value] }])
      yield* write([{ statement: "snapshot", values: [position.sequence, position.id] }])
      yield* write([
        { statement: "removeMessages", values: [position.sequence] },
        { statement: "removeOtherPages", values: [] }
      ])
      return true
    })
  }
})

/** Opens the file for reading, while another process may own it. */
export const makeSqliteReader = Effect.fnUntraced(function* (
  path: string
): Effect.fn.Return<Journal, QueueError, Scope.Scope> {
  const db = yield* Effect.acquireRelease(
    Effect.try({
      try: () => openForReading(path),
      catch: (cause) => new QueueError({ reason: "unavailable", why: explain(cause, path) })
    }),
    (opened) => Effect.sync(() => opened.close())
  )
  const tables = new JournalTables(db, path)
  const refusal = new JournalError({
    reason: "refused",
    why: { _tag: "QueueReadOnly", path }
  })
  return { ...tables.reads, append: () => Effect.fail(refusal), trim: () => Effect.succeed(false) }
})

const openForReading = (path: string): DatabaseSync => {
  const db = new DatabaseSync(path, { readOnly: true, timeout: busyTimeoutMillis })
  try {
    verifyVersion(db)
    // All reads see the same moment.
    db.exec("BEGIN")
    return db
  } catch (cause) {
    db.close()
    throw cause
  }
}

/** Messages of one read. */
const atOnce = 200

/** Reads of the tables. All throw errors of SQLite, except for those of `reads`. */
class JournalTables {
  readonly #path: string
  readonly #last
  readonly #after
  readonly #snapshot
  readonly #page
  readonly #details

  constructor(db: DatabaseSync, path: string) {
    this.#path = path
    this.#last = db.prepare(`
      SELECT sequence, id FROM (
        SELECT * FROM (SELECT sequence, id FROM messages ORDER BY sequence DESC LIMIT 1)
        UNION ALL SELECT sequence, id FROM snapshot)
      ORDER BY sequence DESC LIMIT 1`)
    this.#after = db.prepare("SELECT * FROM messages WHERE sequence > ? ORDER BY sequence LIMIT ?")
    this.#snapshot = db.prepare("SELECT sequence, id FROM snapshot")
    this.#page = db.prepare("SELECT rows FROM pages WHERE snapshot = ? AND page = ?")
    this.#details = db.prepare("SELECT text FROM details WHERE entry = ?")
  }

  get reads(): Pick<Journal, "last" | "follow" | "load" | "details"> {
    return {
      last: this.#attempt(() => this.last()),
      follow: (sequence) => this.#attempt(() => this.#after.all(sequence, atOnce).map(toRecord)),
      load: (take) => this.#load(take),
      details: (entryIds) => this.#attempt(() => entryIds.map((id) => textOf(this.#details.get(id)?.["text"])))
    }
  }

  last(): JournalPosition {
    return toPosition(this.#last.get()) ?? journalStart
  }

  readonly #load = Effect.fnUntraced(
    { self: this },
    function* (
      this: JournalTables,
      take: (page: string) => void
    ): Effect.fn.Return<JournalPosition | undefined, JournalError> {
      const position = yield* this.#attempt(() => toPosition(this.#snapshot.get()))
      if (position === undefined) return undefined
      let page = 0
      while (true) {
        const found = yield* this.#attempt(() => this.#page.get(position.sequence, page + 1))
        if (found === undefined) break
        page += 1
        yield* this.#attempt(() => take(textOf(found["rows"]) ?? ""))
        yield* Effect.yieldNow
      }
      if (page > 0) return position
      return yield* new JournalError({
        reason: "lost",
        why: { _tag: "SnapshotPagesMissing", snapshot: String(position.sequence) }
      })
    }
  )

  #attempt<A>(use: () => A): Effect.Effect<A, JournalError> {
    return Effect.try({
      try: use,
      catch: (cause) => new JournalError({ reason: "unavailable", why: explain(cause, this.#path) })
    })
  }
}

type Row = Readonly<Record<string, unknown>>

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

const toPosition = (row: Row | undefined): JournalPosition | undefined =>
  row === undefined ? undefined : { sequence: Number(row["sequence"]), id: String(row["id"]) }

const toRecord = (row: Row): JournalRecord => ({
  sequence: Number(row["sequence"]),
  id: String(row["id"]),
  after: textOf(row["after"]),
  rows: String(row["rows"])
})

const toStatements = (
  { sequence, id }: JournalPosition,
  after: JournalPosition,
  { details, rows }: JournalChanges
): ReadonlyArray<SqliteChange> => {
  const kept: Array<string> = []
  const removed: Array<string> = []
  for (const [entryId, text] of details) {
    if (text === undefined) removed.push(entryId)
    else kept.push(entryId, text)
  }
  return [
    { statement: "details", values: kept },
    { statement: "removeDetails", values: removed },
    { statement: "message", values: [sequence, id, after.id, rows] }
  ]
}
