/** Inserts publications into the table `publications`. */
import { Array as Arr, Effect, Order } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { DatedPublication } from "../../domain/Publication.ts"
import type { Publication } from "../../domain/Publication.ts"

const byPosition = Order.mapInput(Order.Number, (row: Publication) => row.position)
/** Keeps an insert below the maximum number of parameters of a statement. */
export const rowsPerInsert = 200

/** Adds rows in the order of their positions; existing rows with the same `operationId` do not change. */
export const insertPublications = (
  sql: SqlClient.SqlClient,
  rows: ReadonlyArray<Publication>,
  now: number
): Effect.Effect<void, SqlError.SqlError> =>
  Effect.forEach(
    Arr.chunksOf(Arr.sort(rows, byPosition), rowsPerInsert),
    (chunk) => sql`
      INSERT INTO publications ${sql.insert(Arr.map(chunk, (row) => toPublicationRow(row, now)))}
      ON CONFLICT (operation_id) DO NOTHING`,
    { discard: true }
  )

const toPublicationRow = (row: Publication, now: number) => ({
  ...DatedPublication.toRow({ ...row, createdAt: now, updatedAt: now }),
  kind: row.operation._tag,
  head: row.operation._tag === "Status" ? row.operation.head : null
})
