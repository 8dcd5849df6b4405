/**
 * Implements `effect/sql`'s SqlClient over node:sqlite: one connection with prepared statements, shared through a semaphore that a
 * transaction holds until it ends. Repositories use SqlClient, so that they also run on another database. Each statement blocks the event
 * loop while it runs: keep transactions short.
 */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite"
import { Context, Effect, Layer, Semaphore, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, SqlError, Statement } from "effect/sql"
import type { SqlConnection } from "effect/sql"
import { explain, openDatabase } from "./SqliteDatabase.ts"
import type { StoreError } from "./StoreError.ts"

const preparedLimit = 256

/** Creates a client of the file at `path`; ":memory:" is a database that lives as long as the layer. */
export const layer = (options: { readonly path: string }): Layer.Layer<SqlClient.SqlClient, StoreError> =>
  Layer.effect(
    SqlClient.SqlClient,
    Effect.gen(function* () {
      const db = yield* openDatabase(options.path)
      const connection = connect(db, options.path)
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

const connect = (db: DatabaseSync, path: string): SqlConnection.Connection => {
  const prepared = new Map<string, StatementSync>()

  const prepare = (sql: string): StatementSync => {
    const known = prepared.get(sql)
    if (known !== undefined) return known
    if (prepared.size >= preparedLimit) prepared.clear()
    const statement = db.prepare(sql)
    prepared.set(sql, statement)
    return statement
  }

  const run = <A>(sql: string, use: (statement: StatementSync) => A, cached: boolean) =>
    Effect.withFiber<A, SqlError.SqlError>((fiber) => {
      try {
        const statement = cached ? prepare(sql) : db.prepare(sql)
        statement.setReadBigInts(Context.get(fiber.context, SqlClient.SafeIntegers))
        return Effect.succeed(use(statement))
      } catch (cause) {
        return Effect.fail(toSqlError(cause, path))
      }
    })

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
  const errno = cause instanceof Error && "errcode" in cause ? cause.errcode : undefined
  const message = cause instanceof Error ? cause.message : String(cause)
  return new SqlError.SqlError({
    reason: SqlError.classifySqliteError({ message, errno, cause }, { message: explain(cause, path) })
  })
}
