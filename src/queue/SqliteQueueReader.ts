/**
 * The queue of another process, for looking only: the process that serves holds the file's lock and keeps what is waiting in
 * memory too, so nobody else may write. Every change is refused with what to do instead.
 */
import { DatabaseSync } from "node:sqlite"
import { Effect, Layer } from "effect"
import { explain } from "../database/SqliteDatabase.ts"
import type { EntryTable } from "./EntryTable.ts"
import { QueueError } from "./Queue.ts"
import type { Queue } from "./Queue.ts"
import type { QueueControl } from "./QueueControl.ts"
import * as SqliteRows from "./SqliteRows.ts"
import * as SqliteTable from "./SqliteTable.ts"
import * as TableQueue from "./TableQueue.ts"

/** Each look reads the file anew. */
export const layerReading = (path: string): Layer.Layer<Queue | QueueControl, QueueError> =>
  Layer.effectContext(
    Effect.sync(() => {
      const read = <A>(use: (table: EntryTable) => A): Effect.Effect<A, QueueError> =>
        Effect.try({
          try: () => {
            const db = new DatabaseSync(path, { readOnly: true, timeout: 2000 })
            try {
              return use(SqliteTable.make(SqliteRows.open(db)))
            } finally {
              db.close()
            }
          },
          catch: (cause) => new QueueError({ reason: "unavailable", message: explain(cause, path) })
        })
      const write = () =>
        Effect.fail(
          new QueueError({
            reason: "unavailable",
            message: `The service that runs holds the queue ${path}: only it can change what waits. Stop it and repeat the command.`
          })
        )
      return TableQueue.make({ read, write }, { perWorkspace: 0, total: 0 })
    })
  )
