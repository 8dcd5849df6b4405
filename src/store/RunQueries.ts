/** Selects lists of runs, newest first. */
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { foldRepo } from "../domain/Change.ts"
import { firstIdAt } from "../domain/Ids.ts"
import { corrupt, unavailable } from "../database/StoreFailure.ts"
import { decodeRunRows, toRun } from "./RunRow.ts"
import type { RunFilter, Runs } from "./Runs.ts"

type Fragment = Statement.Fragment

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

/**
 * Selects the runs of a filter, newest first. An index by status has the order of ids only for each status by itself, so that each is read to the limit:
 * one read of all would sort every run that has one of them.
 */
const select = (sql: SqlClient.SqlClient, filter: RunFilter, more: Fragment) => {
  const { limit, statuses } = filter
  if (statuses === undefined || statuses.length < 2)
    return sql`SELECT * FROM runs WHERE ${conditions(sql, filter)} ${more} ORDER BY id DESC LIMIT ${limit}`
  const [first, ...others] = statuses.map(
    (status) => sql`
      SELECT id FROM (SELECT id FROM runs WHERE ${conditions(sql, { ...filter, statuses: [status] })} ${more}
        ORDER BY id DESC LIMIT ${limit}) AS of_status`
  )
  const ids = others.reduce<Fragment>((all, one) => sql`${all} UNION ALL ${one}`, first ?? sql``)
  return sql`SELECT * FROM runs WHERE id IN (${ids}) ORDER BY id DESC LIMIT ${limit}`
}

export const list =
  (sql: SqlClient.SqlClient): Runs["Service"]["list"] =>
  (filter) =>
    decoded("runs.list", select(sql, filter, sql``).pipe(unavailable("runs.list")))

/** Selects the newest run of each target. */
export const newest =
  (sql: SqlClient.SqlClient): Runs["Service"]["newest"] =>
  (filter) =>
    decoded(
      "runs.newest",
      select(
        sql,
        filter,
        sql`AND NOT EXISTS (SELECT 1 FROM runs newer WHERE newer.target_key = runs.target_key AND newer.id > runs.id)`
      ).pipe(unavailable("runs.newest"))
    )
