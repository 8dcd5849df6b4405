/** Selects lists of runs. */
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { foldRepo, targetKey } from "../../domain/Change.ts"
import { firstIdAt } from "../../domain/Ids.ts"
import { direction, idConditions } from "../../database/sql/ListOrder.ts"
import { escapeLike, readEnd, selectFound } from "../../database/sql/SearchTexts.ts"
import { selectAs, unavailable } from "../../database/sql/StoreFailure.ts"
import { Run } from "../Runs.ts"
import type { RunFilter, Runs, ValueOrder } from "../Runs.ts"

type Fragment = Statement.Fragment

/** Conditions of a filter, on the table with this name. */
const conditions = (sql: SqlClient.SqlClient, filter: RunFilter) => {
  const { number, repo, since, statuses, targetKey: key, trigger, until, workspace } = filter
  return sql.and([
    sql`1 = 1`,
    ...(workspace === undefined ? [] : [sql`runs.workspace = ${workspace}`]),
    ...(statuses === undefined ? [] : [sql.in("status", statuses)]),
    ...(key === undefined ? [] : [sql`runs.target_key = ${key}`]),
    ...(repo === undefined ? [] : [sql`runs.repo = ${foldRepo(repo)}`]),
    ...(number === undefined ? [] : [sql`runs.number = ${number}`]),
    ...(trigger === undefined ? [] : [sql`runs.trigger_name = ${trigger}`]),
    // Ids are ordered by the time of creation.
    ...(since === undefined ? [] : [sql`runs.id >= ${firstIdAt(since)}`]),
    ...(until === undefined ? [] : [sql`runs.id < ${firstIdAt(until)}`]),
    ...idConditions(sql, filter, "runs.id")
  ])
}

/**
 * Selects the runs of a filter by id. An index by status has the order of ids only for each status by itself, so that each is read to the limit:
 * one read of all would sort every run that has one of them.
 */
const select = (sql: SqlClient.SqlClient, filter: RunFilter, more: Fragment) => {
  const { limit, limitOfEach = limit, statuses } = filter
  const order = direction(sql, filter)
  if (statuses === undefined || statuses.length < 2)
    return sql`SELECT * FROM runs WHERE ${conditions(sql, filter)} ${more} ORDER BY id ${order} LIMIT ${limit}`
  const [first, ...others] = statuses.map(
    (status) => sql`
      SELECT id FROM (SELECT id FROM runs WHERE ${conditions(sql, { ...filter, statuses: [status] })} ${more}
        ORDER BY id ${order} LIMIT ${limitOfEach}) AS of_status`
  )
  const ids = others.reduce<Fragment>((all, one) => sql`${all} UNION ALL ${one}`, first ?? sql``)
  return sql`SELECT * FROM runs WHERE id IN (${ids}) ORDER BY id ${order} LIMIT ${limit}`
}

/** Expressions that have indexes. */
const valueOf: Readonly<Record<ValueOrder["by"], string>> = {
  duration: "COALESCE(finished_at - started_at, -1)",
  cost: "COALESCE(cost_nanos, -1)"
}

const selectByValue = (sql: SqlClient.SqlClient, filter: RunFilter, { by, from, smallestFirst }: ValueOrder) => {
  const value = sql.literal(valueOf[by])
  const order = sql.literal(smallestFirst ? "ASC" : "DESC")
  const beyond = sql.literal(smallestFirst ? ">" : "<")
  // SQLite finds the start in an index of an expression by the first comparison only.
  const after =
    from === undefined
      ? sql``
      : sql`AND ${value} ${beyond}= ${from.value} AND (${value} ${beyond} ${from.value} OR id ${beyond} ${from.id})`
  return sql`
    SELECT * FROM runs WHERE ${conditions(sql, filter)} ${after}
    ORDER BY ${value} ${order}, id ${order} LIMIT ${filter.limit}`
}

export const list =
  (sql: SqlClient.SqlClient): Runs["Service"]["list"] =>
  (filter) =>
    selectAs(
      Run,
      "runs.list",
      filter.order === undefined ? select(sql, filter, sql``) : selectByValue(sql, filter, filter.order)
    ).pipe(unavailable("runs.list"))

/** Selects runs whose targets are comments below a change. */
export const replies =
  (sql: SqlClient.SqlClient): Runs["Service"]["replies"] =>
  (change, limit) => {
    const { number } = change.target
    if (number === undefined) return Effect.succeed([])
    const { repo, trigger } = change
    const below = `${targetKey({ ...change, target: { kind: "comment", number } })}:`
    const filter = { repo: repo.fullName, number, trigger, limit }
    return selectAs(
      Run,
      "runs.replies",
      select(sql, filter, sql`AND target_key LIKE ${`${escapeLike(below)}%`} ESCAPE '\\'`)
    ).pipe(unavailable("runs.replies"))
  }

/** Selects the newest run of each target. */
export const newest =
  (sql: SqlClient.SqlClient): Runs["Service"]["newest"] =>
  (filter) =>
    // The index of marked runs serves a literal only.
    selectAs(Run, "runs.newest", select(sql, filter, sql`AND newest = 1`)).pipe(unavailable("runs.newest"))

/** Searches the next runs of a list. */
export const search = (sql: SqlClient.SqlClient): Runs["Service"]["search"] =>
  Effect.fnUntraced(function* (wanted) {
    const { after: _after, before: _before, isNewest, since, until, ...filter } = wanted
    const range = sql.and([
      sql`1 = 1`,
      ...(isNewest ? [sql`newest = 1`] : []),
      ...(since === undefined ? [] : [sql`id >= ${firstIdAt(since)}`]),
      ...(until === undefined ? [] : [sql`id < ${firstIdAt(until)}`]),
      ...idConditions(sql, wanted)
    ])
    const searched = { table: "runs", range, filter: conditions(sql, filter) } as const
    const runs = yield* selectAs(Run, "runs.search", selectFound(sql, searched, wanted))
    return { runs, searchedTo: yield* readEnd(sql, "runs.search", searched, wanted, runs.length) }
  }, unavailable("runs.search"))
