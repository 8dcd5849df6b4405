/** Queries rows of batches and their members, decoded. */
import { Array as Arr, Effect } from "effect"
import type { Schema } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { decodeBatchRows, decodeMemberRows, toBatch, toMember } from "./BatchRow.ts"
import type { StoreError } from "../database/StoreError.ts"
import { corrupt } from "../database/StoreFailure.ts"

export type BatchFailure = SqlError.SqlError | StoreError

export const decoded = <A, B>(
  operation: string,
  rows: Effect.Effect<ReadonlyArray<object>, SqlError.SqlError>,
  decode: (rows: ReadonlyArray<object>) => Effect.Effect<ReadonlyArray<A>, Schema.SchemaError>,
  from: (row: A) => B
): Effect.Effect<ReadonlyArray<B>, BatchFailure> =>
  Effect.flatMap(rows, (found) =>
    Effect.mapBoth(decode(found), { onFailure: (error) => corrupt(operation, error), onSuccess: Arr.map(from) })
  )

export const selectBatches = (operation: string, rows: Effect.Effect<ReadonlyArray<object>, SqlError.SqlError>) =>
  decoded(operation, rows, decodeBatchRows, toBatch)

export const selectMembers = (sql: SqlClient.SqlClient, batchId: string) =>
  decoded(
    "batches.members",
    sql`SELECT * FROM batch_members WHERE batch_id = ${batchId} ORDER BY event_id`,
    decodeMemberRows,
    toMember
  )
