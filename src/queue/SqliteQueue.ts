/**
 * The queue in a SQLite file of its own (`queue.sqlite.path`). What was answered is on disk: callers that come together share
 * one transaction and one sync (store/GroupCommit.ts). A transaction runs within one turn of the event loop, so that reads in
 * between see only what is committed.
 */
import type { DatabaseSync } from "node:sqlite"
import { Effect, Layer, Result } from "effect"
import * as DataLock from "../store/DataLock.ts"
import * as GroupCommit from "../store/GroupCommit.ts"
import { explain, openDatabase, resultCode } from "../store/SqliteDatabase.ts"
import type { EntryTable } from "./EntryTable.ts"
import { QueueError } from "./Queue.ts"
import type { Queue } from "./Queue.ts"
import type { QueueControl } from "./QueueControl.ts"
import { pageBytes, prepare } from "./SqliteSchema.ts"
import * as SqliteTable from "./SqliteTable.ts"
import type { Limits } from "./TableQueue.ts"
import * as TableQueue from "./TableQueue.ts"

type Operation = (table: EntryTable) => void

const maxBatch = 512
const maxWaiting = 10_000

export const layerSqlite = (
  options: { readonly path: string } & Limits
): Layer.Layer<Queue | QueueControl, QueueError> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const { path } = options
      const taken = `Another aicr process uses the queue ${path}. Stop it, or configure another queue.sqlite.path.`
      yield* DataLock.acquire(`${path}.lock`, taken)
      const db = yield* openDatabase(path, pageBytes)
      const unavailable = (cause: unknown) => new QueueError({ reason: "unavailable", message: explain(cause, path) })
      const attempt = <A>(use: () => A) => Effect.try({ try: use, catch: unavailable })

      const table = yield* attempt(() => {
        prepare(db)
        return SqliteTable.make(db)
      })
      const commits = yield* GroupCommit.make({
        commit: (operations: ReadonlyArray<Operation>) =>
          Effect.sync(() => commit(db, table, operations).map((result) => Result.mapError(result, unavailable))),
        maxBatch,
        maxWaiting,
        refuse: (why) =>
          new QueueError({
            reason: "unavailable",
            message: why === "full" ? `${maxWaiting} operations wait for the disk.` : "The service is stopping."
          })
      })

      const read = <A>(use: (table: EntryTable) => A) => attempt(() => use(table))
      const write = <A>(use: (table: EntryTable) => A): Effect.Effect<A, QueueError> =>
        Effect.suspend(() => {
          let answer: { readonly value: A } | undefined
          const operation: Operation = (within) => {
            answer = { value: use(within) }
          }
          return Effect.flatMap(commits.submit(operation), (result) => {
            if (Result.isFailure(result)) return Effect.fail(result.failure)
            return answer === undefined
              ? Effect.die(new Error("A commit left an operation out"))
              : Effect.succeed(answer.value)
          })
        })
      return TableQueue.make({ read, write }, options)
    }).pipe(
      Effect.catchTag("StoreError", (error) =>
        Effect.fail(new QueueError({ reason: "unavailable", message: error.message }))
      )
    )
  )

/**
 * Runs operations in one transaction. When SQLite refuses, all fail. When one of them fails by itself (an entry that does
 * not decode), each is run alone, so that it fails alone.
 */
const commit = (
  db: DatabaseSync,
  table: SqliteTable.SqliteTable,
  operations: ReadonlyArray<Operation>
): ReadonlyArray<Result.Result<void, unknown>> => {
  try {
    transact(db, table, operations)
    return operations.map(() => Result.void)
  } catch (cause) {
    return operations.length === 1 || resultCode(cause) !== undefined
      ? operations.map(() => Result.fail(cause))
      : operations.flatMap((operation) => commit(db, table, [operation]))
  }
}

const transact = (db: DatabaseSync, table: SqliteTable.SqliteTable, operations: ReadonlyArray<Operation>): void => {
  // A ROLLBACK that was refused is made up for before anything else.
  if (db.isTransaction) db.exec("ROLLBACK")
  db.exec("BEGIN IMMEDIATE")
  try {
    for (const operation of operations) operation(table)
    db.exec("COMMIT")
    table.committed()
  } catch (cause) {
    table.rolledBack()
    if (db.isTransaction) db.exec("ROLLBACK")
    throw cause
  }
}
