/** Converts errors of databases and decoders to StoreError. */
import { Effect } from "effect"
import type { Schema } from "effect"
import { SqlError } from "effect/sql"
import { verbatimReason } from "../../domain/Reason.ts"
import type { Reason } from "../../domain/Reason.ts"
import { isUndone } from "../postgres/PostgresFailure.ts"
import { DriverFailure } from "./DriverFailure.ts"
import { StoreError } from "../StoreError.ts"

/** Converts a database error to `unavailable`; a statement that can never succeed (syntax, constraint) is a defect and dies. */
export const unavailable =
  (operation: string) =>
  <A, R>(effect: Effect.Effect<A, SqlError.SqlError | StoreError, R>): Effect.Effect<A, StoreError, R> =>
    Effect.catch(effect, (error) => {
      if (!SqlError.isSqlError(error)) return Effect.fail(error)
      const failed = {
        reason: "unavailable",
        operation,
        why: whyOf(error),
        ...(isUndone(error) ? ({ isUndone: true } as const) : {})
      } as const
      switch (error.reason._tag) {
        case "SqlSyntaxError":
        case "ConstraintError":
        case "UniqueViolation":
          return Effect.die(error)
        // Only Postgres has connections.
        case "ConnectionError":
          return Effect.fail(new StoreError({ ...failed, disconnected: "postgres" }))
        default:
          return Effect.fail(new StoreError(failed))
      }
    })

const whyOf = ({ message, reason: { cause } }: SqlError.SqlError): Reason =>
  cause instanceof DriverFailure ? cause.why : verbatimReason(message)

/** Runs a query and decodes its rows as records. */
export const selectAs = <A, E>(
  record: { readonly decodeRows: (rows: ReadonlyArray<object>) => Effect.Effect<ReadonlyArray<A>, Schema.SchemaError> },
  operation: string,
  rows: Effect.Effect<ReadonlyArray<object>, E>
): Effect.Effect<ReadonlyArray<A>, E | StoreError> =>
  Effect.flatMap(rows, (found) => Effect.mapError(record.decodeRows(found), (error) => corrupt(operation, error)))

/** Builds the error of a stored record that cannot be decoded. The schema's message names the field. */
export const corrupt = (operation: string, error: Schema.SchemaError): StoreError =>
  new StoreError({
    reason: "corrupt",
    operation,
    why: { _tag: "RecordUndecodable", why: error.message }
  })
