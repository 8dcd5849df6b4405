/** Selects lists of runs, newest first. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { foldRepo } from "../domain/Change.ts"
import { firstIdAt } from "../domain/Ids.ts"
import { corrupt, unavailable } from "../database/StoreFailure.ts"
import { decodeRunRows, toRun } from "./RunRow.ts"
import type { RunFilter, Runs } from "./Runs.ts"

/** Conditions of a filter, on the table with this name. */
const conditions = (sql: SqlClient.SqlClient, filter: RunFilter) => {
  const { before, number, repo, since, statuses, targetKey, trigger, until, workspace } = filter
  return sql.and([
    sql`1 = 1`,
    ...(workspace === undefined ? [] : [sql`runs.workspace = ${workspace}`]),
    ...(statuses === undefined ? [] : [sql.in("status", statuses)]),
    ...(targetKey === undefined ? [] : [sql`runs.target_key = ${targetKey}`]),
    ...(repo === undefined ? [] : [sql`runs.repo = ${foldRepo(repo)}`]),
    ...(number === undefined ? [] : [sql`runs.number = ${number}`]),
    ...(trigger === undefined ? [] : [sql`runs.trigger_name = ${trigger}`]),
    // Ids are ordered by the time of creation.
    ...(since === undefined ? [] : [sql`runs.id >= ${firstIdAt(since)}`]),
    ...(until === undefined ? [] : [sql`runs.id < ${firstIdAt(until)}`]),
    ...(before === undefined ? [] : [sql`runs.id < ${before}`])
  ])
}

const decoded = <E>(operation: string, rows: Effect.Effect<ReadonlyArray<object>, E>) =>
  Effect.flatMap(rows, (found) =>
    Effect.mapBoth(decodeRunRows(found), {
      onFailure: (error) => corrupt(operation, error),
      onSuccess: (all) => all.map(toRun)
    })
  )

export const list =
  (sql: SqlClient.SqlClient): Runs["Service"]["list"] =>
  (filter) =>
    decoded(
      "runs.list",
      sql`SELECT * FROM runs WHERE ${conditions(sql, filter)} ORDER BY id DESC LIMIT ${filter.limit}`.pipe(
        unavailable("runs.list")
      )
    )

/** Selects the newest run of each target. */
export const newest =
  (sql: SqlClient.SqlClient): Runs["Service"]["newest"] =>
  (filter) =>
    decoded(
      "runs.newest",
      sql`
        SELECT * FROM runs WHERE ${conditions(sql, filter)}
          AND NOT EXISTS (SELECT 1 FROM runs newer WHERE newer.target_key = runs.target_key AND newer.id > runs.id)
        ORDER BY id DESC LIMIT ${filter.limit}`.pipe(unavailable("runs.newest"))
    )
