/** Wiring of the record store: a migrated database and the repositories over it. */
import { Layer } from "effect"
import type { SqlClient } from "effect/sql"
import * as Migrations from "./Migrations.ts"
import type { Outbox } from "./Outbox.ts"
import type { Receipts } from "./Receipts.ts"
import type { Runs } from "./Runs.ts"
import * as SqlOutbox from "./SqlOutbox.ts"
import * as SqlReceipts from "./SqlReceipts.ts"
import * as SqlRuns from "./SqlRuns.ts"
import * as SqliteClient from "./SqliteClient.ts"
import type { StoreError } from "./StoreError.ts"

/** The repositories over any SqlClient. */
export const layer = (
  migrate: "auto" | "verify"
): Layer.Layer<Receipts | Runs | Outbox, StoreError, SqlClient.SqlClient> =>
  Layer.mergeAll(SqlReceipts.layer, SqlRuns.layer, SqlOutbox.layer).pipe(Layer.provide(Migrations.layer(migrate)))

/** In one SQLite file. */
export const layerSqlite = (options: {
  readonly path: string
  readonly migrate: "auto" | "verify"
}): Layer.Layer<Receipts | Runs | Outbox | SqlClient.SqlClient, StoreError> =>
  Layer.provideMerge(layer(options.migrate), SqliteClient.layer({ path: options.path }))

/** Keeps nothing: for tests. */
export const layerMemory: Layer.Layer<Receipts | Runs | Outbox | SqlClient.SqlClient, StoreError> = layerSqlite({
  path: ":memory:",
  migrate: "auto"
})
