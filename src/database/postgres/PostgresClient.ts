/**
 * Implements `effect/sql`'s SqlClient over `pg`: a limited pool, transactions with savepoints, and errors in the classes of `effect/sql`.
 *
 * Nodes may freeze or lose the network in the middle of a transaction: the server ends transactions that are idle for five seconds, and
 * statements that wait for a lock or run for too long, so that none blocks the others. A caller without a connection waits two seconds for
 * a server that restarts. Retried here is only what certainly had no effect: statements that were never sent, reads, statements whose plan
 * a newer release's migration invalidated, and transactions that the server rolled back (deadlock, serialization, connection lost before
 * COMMIT). For any other lost response only the caller can decide whether repeating it is safe.
 */
import { Effect, Layer, Option, Schedule, Stream } from "effect"
import type { Redacted, Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, Statement } from "effect/sql"
import type { SqlConnection, SqlError } from "effect/sql"
import { Pool, TypeOverrides } from "pg"
import type { PoolClient, QueryArrayResult, QueryResult } from "pg"
import { parseAddress } from "./PostgresAddress.ts"
import { isLost, isUndone, toSqlError } from "./PostgresFailure.ts"
import type { Stage } from "./PostgresFailure.ts"
import { makeStatementNames } from "./StatementNames.ts"
import type { StoreError } from "../StoreError.ts"
import { unlimited } from "./Unlimited.ts"

export interface PostgresOptions {
  readonly url: Redacted.Redacted<string>
  /** Shown by the server for each connection (`pg_stat_activity`). */
  readonly applicationName?: string
  readonly maxConnections?: number
  /** Milliseconds that a statement may take, measured here. Default: more than the server permits. */
  readonly queryTimeout?: number
}

const limits = {
  connectionTimeoutMillis: 5000,
  statement_timeout: 30_000,
  lock_timeout: 10_000,
  /** Shorter than the lock timeout, so that a caller waiting for a frozen node gets the lock. */
  idle_in_transaction_session_timeout: 5000,
  /** Timeout for a server that does not respond, measured here. */
  query_timeout: 35_000,
  idleTimeoutMillis: 60_000
}

/** Milliseconds of a statement of a transaction without limits of time. A zero would be the default. */
const unlimitedMillis = 2 ** 31 - 1

/** Retries of a statement while the server is unavailable. */
const whileUnavailable = Schedule.spaced("100 millis").pipe(Schedule.upTo({ duration: "2 seconds" }))

export const layer = (options: PostgresOptions): Layer.Layer<SqlClient.SqlClient, StoreError> =>
  Layer.effect(
    SqlClient.SqlClient,
    Effect.gen(function* () {
      const { connectionString, place } = yield* parseAddress(options.url)
      const pool = yield* Effect.acquireRelease(
        Effect.sync(
          () =>
            new Pool({
              connectionString,
              ...limits,
              query_timeout: options.queryTimeout ?? limits.query_timeout,
              max: options.maxConnections ?? 10,
              application_name: options.applicationName ?? "aicr",
              keepAlive: true,
              types: numbers
            })
        ),
        (opened) => Effect.promise(() => opened.end())
      )
      // A connection that ends while it is unused has left the pool already.
      pool.on("error", () => {})
      const lost = new WeakSet<SqlConnection.Connection>()
      const lease = leaseOf(pool, place, makeStatementNames(), lost)
      const client = yield* SqlClient.make({
        acquirer: lease,
        borrower: (use) => again(Effect.scoped(Effect.flatMap(lease, use))),
        compiler,
        driver: "pg",
        spanAttributes: [["db.system.name", "postgresql"]],
        releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
        commit: commitOf(place),
        isTransaction: (connection) => !lost.has(connection)
      })
      const { transactionService, withTransaction } = client
      return Object.assign(client, {
        withTransaction: <R, E, A>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError.SqlError, R> =>
          Effect.flatMap(Effect.serviceOption(transactionService), (outer) =>
            Option.isSome(outer) ? withTransaction(work) : again(withTransaction(work))
          )
      })
    })
  ).pipe(Layer.provide(Reactivity.layer))

/** Parses bigint columns, and their sums (numeric), as numbers: they are counts and times in milliseconds. */
const numbers = new TypeOverrides()
for (const type of [20, 1700]) numbers.setTypeParser(type, Number)

const quote = Statement.defaultEscape('"')
const compiler = Statement.makeCompiler({
  dialect: "pg",
  placeholder: (index) => `$${index}`,
  onIdentifier: quote,
  onRecordUpdate: () => ["", []],
  onCustom: () => ["", []]
})

const again = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.retry(work, {
    while: isUndone,
    schedule: Schedule.exponential("20 millis").pipe(Schedule.jittered, Schedule.upTo({ times: 6 }))
  })

/** Leases a connection of the pool until the scope closes; one that is lost, or busy with an interrupted statement, is closed then. */
const leaseOf = (
  pool: Pool,
  place: string,
  nameOf: (text: string) => string | undefined,
  lost: WeakSet<SqlConnection.Connection>
): Effect.Effect<SqlConnection.Connection, SqlError.SqlError, Scope.Scope> => {
  const take = Effect.callback<PoolClient, SqlError.SqlError>((resume) => {
    let wanted = true
    pool.connect((error, client, release) => {
      if (client === undefined) resume(Effect.fail(toSqlError(error, place, "connect")))
      else if (wanted) resume(Effect.succeed(client))
      else release()
    })
    return Effect.sync(() => {
      wanted = false
    })
  }).pipe(Effect.retry({ while: isLost, schedule: whileUnavailable }))

  return Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(restore(take), (client) => {
      const onError = () => lost.add(connection)
      const connection = connect(client, place, nameOf, () => lost.add(connection))
      client.on("error", onError)
      return Effect.as(
        Effect.addFinalizer(() =>
          Effect.sync(() => {
            client.release(lost.has(connection))
            client.removeListener("error", onError)
          })
        ),
        connection
      )
    })
  )
}

const connect = (
  client: PoolClient,
  place: string,
  nameOf: (text: string) => string | undefined,
  lose: () => void
): SqlConnection.Connection => {
  const query = <A>(
    text: string,
    send: (callback: (cause: Error | null | undefined, result: A) => void) => void
  ): Effect.Effect<A, SqlError.SqlError> =>
    Effect.callback((resume) => {
      const stage = stageOf(text)
      send((cause, result) => {
        if (cause === null || cause === undefined) return resume(Effect.succeed(result))
        const error = toSqlError(cause, place, stage)
        if (isLost(error)) lose()
        resume(Effect.fail(error))
      })
      return Effect.sync(lose)
    })

  let inTransaction = false
  let isUnlimited = false
  const stageOf = (text: string): Stage => {
    if (text === "BEGIN") inTransaction = true
    if (text === "COMMIT" || text === "ROLLBACK") inTransaction = isUnlimited = false
    if (text === unlimited) isUnlimited = inTransaction
    return text !== "COMMIT" && (inTransaction || /^\s*SELECT\b/i.test(text)) ? "undone" : "statement"
  }

  const results = (text: string, params: ReadonlyArray<unknown>) =>
    query<QueryResult>(text, (callback) => {
      const name = params.length === 0 ? undefined : nameOf(text)
      const more = {
        ...(name === undefined ? {} : { name }),
        ...(isUnlimited ? { query_timeout: unlimitedMillis } : {})
      }
      client.query({ text, values: params.map(toParameter), ...more }, callback)
    })
  const rows: SqlConnection.Connection["execute"] = (text, params, transformRows) =>
    Effect.map(results(text, params), (result) =>
      transformRows === undefined ? result.rows : transformRows(result.rows)
    )
  /**
   * Controls the transaction. If the connection is lost, the server has rolled it back, so later statements in it fail with that reason.
   */
  const control: SqlConnection.Connection["execute"] = (text, params, transformRows) =>
    /^(ROLLBACK|RELEASE)\b/.test(text)
      ? Effect.catchIf(rows(text, params, transformRows), isLost, () => Effect.succeed([]))
      : rows(text, params, transformRows)
  const values: SqlConnection.Connection["executeValues"] = (text, params) =>
    Effect.map(
      query<QueryArrayResult>(text, (callback) =>
        client.query({ text, values: params.map(toParameter), rowMode: "array" }, callback)
      ),
      (result) => result.rows
    )

  return {
    execute: rows,
    executeUnprepared: control,
    executeRaw: results,
    executeValues: values,
    executeValuesUnprepared: values,
    // Read completely and emitted in pieces, because results are small.
    executeStream: (text, params, transformRows) => Stream.fromIterableEffect(rows(text, params, transformRows))
  }
}

/** Commits. The response to COMMIT of a failed transaction is ROLLBACK, not an error. */
const commitOf = (place: string) => (connection: SqlConnection.Connection) =>
  Effect.flatMap(connection.executeRaw("COMMIT", []), (result) =>
    isCommitted(result)
      ? Effect.void
      : Effect.fail(
          toSqlError(new Error("the transaction was rolled back, one of its statements failed"), place, "statement")
        )
  )

const isCommitted = (result: unknown): boolean =>
  typeof result === "object" && result !== null && "command" in result && result.command === "COMMIT"

/** Removes NUL, which text in Postgres cannot contain. */
const toParameter = (value: unknown): unknown => {
  if (typeof value === "string") return value.includes("\0") ? value.replaceAll("\0", "\uFFFD") : value
  return Array.isArray(value) ? value.map(toParameter) : value
}
