/**
 * Who writes next, where several nodes write to one database. SQLite has one writer, whose transaction begins by taking its lock;
 * Postgres needs to be told: a lock on rows that are read in order to write them, or on a name where there is no row yet.
 */
import { Effect } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"

/** Ends a SELECT whose rows this transaction is going to write. */
export const forUpdate = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql.onDialectOrElse({ pg: () => sql.literal("FOR UPDATE"), orElse: () => sql.literal("") })

/** Holds these names, each with its kind (`batches:…`), until the transaction ends; in one order, whoever asks. */
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
