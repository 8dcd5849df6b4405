/**
 * Locks rows where several nodes write to one database. SQLite has one writer, whose transaction begins with its lock; Postgres requires
 * explicit locks: on rows that are read in order to write them, or on a name if there is no row yet.
 */
import { Effect } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"

/** Returns the end of a SELECT whose rows this transaction is going to write. */
export const forUpdate = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql.onDialectOrElse({ pg: () => sql.literal("FOR UPDATE"), orElse: () => sql.literal("") })

/** Locks these names, each with its kind (`batches:…`), until the transaction ends; always in the same order. */
export const lockNames = (sql: SqlClient.SqlClient, names: Iterable<string>): Effect.Effect<void, SqlError.SqlError> =>
  sql.onDialectOrElse({
    pg: () =>
      Effect.forEach(
        [...new Set(names)].toSorted(),
        (name) => sql`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))`,
        { discard: true }
      ),
    orElse: () => Effect.void
  })
