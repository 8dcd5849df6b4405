/**
 * Implements `effect/sql`'s SqlClient over node:sqlite: one connection with prepared statements, shared through a semaphore that a
 * transaction holds until it ends. Repositories use SqlClient, so that they also run on another database. Each statement blocks the event
 * loop while it runs: keep transactions short. The sync of a commit does not (SqliteLog.ts): its caller waits for it and holds the
 * connection, so that no one reads what is not durable.
 */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite"
import { Context, Effect, Layer, Semaphore, Stream } from "effect"
import { hasProperty } from "effect/Predicate"
import { Reactivity } from "effect/reactivity"
import { SqlClient, SqlError, Statement } from "effect/sql"
import type { SqlConnection } from "effect/sql"
import { DriverFailure } from "../sql/DriverFailure.ts"
import { explain, openDatabase } from "./SqliteDatabase.ts"
import { openLog } from "./SqliteLog.ts"
import type { FileSync, SqliteLog } from "./SqliteLog.ts"
import type { StoreError } from "../StoreError.ts"

/** Finds out after which statements a SQLite connection has committed a change that is not synced yet. */

type StatementKind = "read" | "counted" | "control" | "rollback" | "other"

const kinds: Readonly<Record<string, StatementKind>> = {
  SELECT: "read",
  VALUES: "read",
  EXPLAIN: "read",
  INSERT: "counted",
  UPDATE: "counted",
  DELETE: "counted",
  REPLACE: "counted",
  WITH: "counted",
  BEGIN: "control",
  COMMIT: "control",
  SAVEPOINT: "control",
  RELEASE: "control",
  ROLLBACK: "rollback"
}

/** Returns the kind by the first word. A statement without a known one, such as CREATE, may change anything. */
export const statementKind = (sql: string): StatementKind =>
  kinds[/^\s*([a-z]+)/i.exec(sql)?.[1]?.toUpperCase() ?? ""] ?? "other"

export class SqliteChanges {
  readonly #db: DatabaseSync
  readonly #totalChanges: StatementSync
  #total: unknown
  /** Whether a statement was executed whose changes SQLite does not count. */
  #uncounted = false

  constructor(db: DatabaseSync) {
    this.#db = db
    this.#totalChanges = db.prepare("SELECT total_changes() AS total")
    this.#total = this.#readTotal()
  }

  /** Returns, after each statement that is not a `read`, whether something was committed since the last call. */
  takeCommitted(kind: StatementKind): boolean {
    if (kind === "other") this.#uncounted = true
    if (!this.#db.isOpen || this.#db.isTransaction) return false
    const total = this.#readTotal()
    const changed = this.#uncounted || total !== this.#total
    this.#total = total
    this.#uncounted = false
    return changed && kind !== "rollback"
  }

  #readTotal(): unknown {
    return this.#totalChanges.get()?.["total"]
  }
}

const preparedLimit = 256

/**
 * Whether a commit is synced on this thread: cheaper for one with many callers, because what arrives until then shares the next commit instead of
 * becoming several small ones.
 */
export const SyncOnThread = Context.Reference<boolean>("aicr/database/SyncOnThread", { defaultValue: () => false })

/**
 * Creates a client of the file at `path`; ":memory:" is a database that lives as long as the layer. After a failed sync every statement
 * fails until the process is restarted: the commit is visible, but it may be missing on disk.
 */
export const layer = (options: {
  readonly path: string
  /** Default: `fdatasync`. */
  readonly files?: FileSync
}): Layer.Layer<SqlClient.SqlClient, StoreError> =>
  Layer.effect(
    SqlClient.SqlClient,
    Effect.gen(function* () {
      const db = yield* openDatabase(options.path)
      const log = yield* openLog(db, options.path, options.files)
      const connection = connect(db, log, options.path)
      const semaphore = yield* Semaphore.make(1)
      return yield* SqlClient.make({
        ...SqlClient.makeSqliteAcquirers({
          connection: Effect.succeed(connection),
          semaphore,
          isTransaction: () => db.isTransaction
        }),
        compiler: Statement.makeCompilerSqlite(),
        driver: "node-sqlite",
        spanAttributes: [["db.system.name", "sqlite"]],
        beginTransaction: "BEGIN IMMEDIATE",
        releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
        prepareTransactionControls: true
      })
    })
  ).pipe(Layer.provide(Reactivity.layer))

const connect = (db: DatabaseSync, log: SqliteLog, path: string): SqlConnection.Connection => {
  const prepared = new Map<string, StatementSync>()
  const changes = new SqliteChanges(db)

  const prepare = (sql: string): StatementSync => {
    const known = prepared.get(sql)
    if (known !== undefined) return known
    if (prepared.size >= preparedLimit) prepared.clear()
    const statement = db.prepare(sql)
    prepared.set(sql, statement)
    return statement
  }

  const execute = <A>(sql: string, use: (statement: StatementSync) => A, cached: boolean) =>
    Effect.withFiber<A, SqlError.SqlError>((fiber) => {
      const failure = log.failure()
      if (failure !== undefined) return Effect.fail(toSqlError(failure, path))
      try {
        const statement = cached ? prepare(sql) : db.prepare(sql)
        statement.setReadBigInts(Context.get(fiber.context, SqlClient.SafeIntegers))
        return Effect.succeed(use(statement))
      } catch (cause) {
        return Effect.fail(toSqlError(cause, path))
      }
    })
  const sync = Effect.flatMap(SyncOnThread, (isOnThread) => (isOnThread ? log.syncOnThread : log.sync)).pipe(
    Effect.mapError((failure) => toSqlError(failure, path))
  )

  const run = <A>(sql: string, use: (statement: StatementSync) => A, cached: boolean) => {
    const executed = execute(sql, use, cached)
    const kind = statementKind(sql)
    if (kind === "read") return executed
    // On any exit: a statement can commit and fail, if its result cannot be read.
    return Effect.onExitPrimitive(executed, () => (changes.takeCommitted(kind) ? sync : undefined))
  }

  const rows = (sql: string, params: ReadonlyArray<unknown>, cached: boolean) =>
    run(
      sql,
      (statement) => {
        statement.setReturnArrays(false)
        return statement.all(...params.map(toInput))
      },
      cached
    )
  const values = (sql: string, params: ReadonlyArray<unknown>, cached: boolean) =>
    run(
      sql,
      (statement): ReadonlyArray<ReadonlyArray<unknown>> => {
        statement.setReturnArrays(true)
        return statement.all(...params.map(toInput)).map((row) => Object.values(row))
      },
      cached
    )

  const connection: SqlConnection.Connection = {
    execute: (sql, params, transformRows) =>
      transformRows === undefined ? rows(sql, params, true) : Effect.map(rows(sql, params, true), transformRows),
    executeRaw: (sql, params) => run(sql, (statement) => statement.run(...params.map(toInput)), true),
    executeValues: (sql, params) => values(sql, params, true),
    executeValuesUnprepared: (sql, params) => values(sql, params, false),
    executeUnprepared: (sql, params, transformRows) =>
      transformRows === undefined ? rows(sql, params, false) : Effect.map(rows(sql, params, false), transformRows),
    // Read completely and emitted in pieces, because an open cursor would hold the connection while the consumer works.
    executeStream: (sql, params, transformRows) =>
      Stream.fromIterableEffect(connection.execute(sql, params, transformRows))
  }
  return connection
}

const toInput = (value: unknown): SQLInputValue => {
  switch (typeof value) {
    case "string":
    case "number":
    case "bigint":
      return value
    case "boolean":
      return value ? 1 : 0
    case "undefined":
      return null
  }
  if (value === null || value instanceof Uint8Array) return value
  if (value instanceof Date) return value.toISOString()
  throw new TypeError(
    `A SQL parameter must be a primitive, a date or bytes, not ${Object.prototype.toString.call(value)}`
  )
}

/** Sets `errno`, by which `effect/sql` classifies; node:sqlite names it `errcode`. */
const toSqlError = (cause: unknown, path: string): SqlError.SqlError => {
  const errno = hasProperty(cause, "errcode") ? cause.errcode : undefined
  const message = hasProperty(cause, "message") ? String(cause.message) : String(cause)
  const failure = new DriverFailure(explain(cause, path), cause)
  return new SqlError.SqlError({
    reason: SqlError.classifySqliteError({ message, errno, cause: failure }, { message: failure.message })
  })
}
