/** Failures of the stores of the database source. */
import { Effect, Result } from "effect"
import type { SqlError } from "effect/sql"
import type { ParsedRecord } from "../../config/revisions/StoredRecords.ts"
import { SourceUnavailable } from "../../config/revisions/RevisionStore.ts"
import type { StoreError } from "../../database/StoreError.ts"
import { unavailable } from "../../database/sql/StoreFailure.ts"

/** Returns the record; text that is not one fails with its reason. */
export const parsed = <A>(operation: string, result: ParsedRecord<A>): Effect.Effect<A, SourceUnavailable> =>
  Result.isSuccess(result)
    ? Effect.succeed(result.success)
    : Effect.fail(new SourceUnavailable({ operation, why: { _tag: "RecordUndecodable", why: result.failure } }))

/** Converts errors of the database. */
export const sourceError =
  (operation: string) =>
  <A, R>(
    effect: Effect.Effect<A, SqlError.SqlError | StoreError | SourceUnavailable, R>
  ): Effect.Effect<A, SourceUnavailable, R> =>
    Effect.catch(effect, (error) =>
      error._tag === "SourceUnavailable"
        ? Effect.fail(error)
        : unavailable(operation)(Effect.fail(error)).pipe(
            Effect.mapError(({ why }) => new SourceUnavailable({ operation, why }))
          )
    )
