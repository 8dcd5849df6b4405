/**
 * Projects: a repository in a workspace, at the trigger profile of its host. They are rows of `projects`, made when their first run ends. A
 * project that is no longer configured, or that an administrator deletes, is marked and, after the grace period, removed with its statistics;
 * those of the instance remain. A run of a project that an administrator deleted removes the mark.
 */
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { foldRepo, hostTrigger } from "../../domain/Change.ts"
import type { Change } from "../../domain/Change.ts"
import { newId } from "../../domain/Ids.ts"
import { forUpdate } from "../../database/RowLocks.ts"
import type { StoreError } from "../../database/StoreError.ts"
import { selectAs } from "../../database/sql/StoreFailure.ts"
import { direction, idConditions } from "../../database/sql/ListOrder.ts"
import type { IdRange } from "../../database/sql/ListOrder.ts"
import { Project } from "../Statistics.ts"
import type { ProjectFilter, ProjectOrder, RenamedRepository } from "../Statistics.ts"

const select = (operation: string, rows: Effect.Effect<ReadonlyArray<object>, SqlError.SqlError>) =>
  selectAs(Project, operation, rows)

/** Returns the id of the project of a run that ended at this time, and makes the project if there is none. */
export const ensureProject = (
  sql: SqlClient.SqlClient,
  workspace: string,
  change: Change,
  team: string | undefined,
  at: number
): Effect.Effect<string, SqlError.SqlError> =>
  sql<{ id: string }>`
    INSERT INTO projects ${sql.insert({
      id: newId(),
      workspace,
      trigger_name: hostTrigger(change),
      repository: foldRepo(change.repo.fullName),
      name: change.repo.fullName,
      host_id: change.repo.hostId ?? null,
      team: team ?? null,
      created_at: at,
      last_run_at: at
    })}
    ON CONFLICT (workspace, trigger_name, repository) DO UPDATE SET
      name = excluded.name,
      host_id = COALESCE(excluded.host_id, projects.host_id),
      team = CASE WHEN excluded.last_run_at >= projects.last_run_at THEN excluded.team ELSE projects.team END,
      last_run_at = CASE WHEN excluded.last_run_at > projects.last_run_at
        THEN excluded.last_run_at ELSE projects.last_run_at END,
      deleted_at = CASE WHEN projects.deleted_by IS NULL THEN projects.deleted_at END,
      deleted_by = NULL
    RETURNING id`.pipe(Effect.map(([row]) => row?.id ?? ""))

/** Marks projects that are no longer configured, and removes the mark of those that are again. */
export const markProjects = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  isConfigured: (project: Project) => boolean,
  now: number
): Effect.fn.Return<void, SqlError.SqlError | StoreError> {
  const projects = yield* select("projects.mark", sql`SELECT * FROM projects`)
  for (const project of projects) {
    const isDeleted = project.deletedAt !== undefined
    if (isConfigured(project) !== isDeleted) continue
    yield* sql`
      UPDATE projects SET deleted_at = ${isDeleted ? null : now} WHERE id = ${project.id} AND deleted_by IS NULL`
  }
})

/** Returns the configured project with the repository that has this id at a host of the triggers, if it has another name. */
export const findRenamed = (
  sql: SqlClient.SqlClient,
  { hostId, repo, triggers }: RenamedRepository
): Effect.Effect<Project | undefined, SqlError.SqlError | StoreError> =>
  select(
    "projects.renamed",
    sql`
    SELECT * FROM projects
    WHERE host_id = ${hostId} AND ${sql.in("trigger_name", triggers)} AND repository <> ${foldRepo(repo)}
      AND deleted_at IS NULL
    ORDER BY last_run_at DESC LIMIT 1`
  ).pipe(Effect.map(([project]) => project))

const orderBy = (sql: SqlClient.SqlClient, range: IdRange, order: ProjectOrder | undefined) => {
  if (order === undefined) return sql`id ${direction(sql, range)}`
  const way = direction(sql, { oldestFirst: order.smallestFirst })
  return sql`${sql(columnOf[order.by])} ${way}, id ${way}`
}

const columnOf: Readonly<Record<ProjectOrder["by"], string>> = { last_run: "last_run_at", repository: "repository" }

const follows = (sql: SqlClient.SqlClient, { by, from, smallestFirst }: ProjectOrder) => {
  if (from === undefined) return []
  const value = by === "last_run" ? Number(from.value) : from.value
  return [sql`(${sql(columnOf[by])}, id) ${sql.literal(smallestFirst ? ">" : "<")} (${value}, ${from.id})`]
}

/** Lists projects, those created last first unless the filter has another order. */
export const listProjects = (
  sql: SqlClient.SqlClient,
  { deleted, limit, order, repo, workspace, ...range }: ProjectFilter
): Effect.Effect<ReadonlyArray<Project>, SqlError.SqlError | StoreError> =>
  select(
    "projects.list",
    sql`
    SELECT * FROM projects WHERE ${sql.and([
      sql`1 = 1`,
      ...(workspace === undefined ? [] : [sql`workspace = ${workspace}`]),
      ...(repo === undefined ? [] : [sql`repository = ${foldRepo(repo)}`]),
      ...(deleted === undefined ? [] : [deleted ? sql`deleted_at IS NOT NULL` : sql`deleted_at IS NULL`]),
      ...idConditions(sql, range),
      ...(order === undefined ? [] : follows(sql, order))
    ])} ORDER BY ${orderBy(sql, range, order)} LIMIT ${limit}`
  )

/** Marks a project as deleted by an administrator, or removes its mark. A project that is marked already keeps its time. */
export const markProject = (
  sql: SqlClient.SqlClient,
  id: string,
  by: string | undefined,
  now: number
): Effect.Effect<Project | undefined, SqlError.SqlError | StoreError> =>
  select(
    "projects.mark",
    sql`
    UPDATE projects
    SET deleted_at = ${by === undefined ? sql`NULL` : sql`COALESCE(deleted_at, ${now})`}, deleted_by = ${by ?? null}
    WHERE id = ${id} RETURNING *`
  ).pipe(Effect.map(([project]) => project))

/** Returns the workspace of each of the projects that exist, locked until the transaction ends, so that none is removed before its counts are written. */
export const lockProjects = (
  sql: SqlClient.SqlClient,
  ids: ReadonlyArray<string>
): Effect.Effect<ReadonlyMap<string, string>, SqlError.SqlError> =>
  ids.length === 0
    ? Effect.succeed(new Map())
    : sql<{ id: string; workspace: string }>`
        SELECT id, workspace FROM projects WHERE ${sql.in("id", ids)} ORDER BY id ${forUpdate(sql)}`.pipe(
        Effect.map((rows) => new Map(rows.map(({ id, workspace }) => [id, workspace])))
      )

/** Removes projects that were marked until this time, with their statistics. Returns how many. */
export const removeProjects = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  deletedUntil: number
): Effect.fn.Return<number, SqlError.SqlError> {
  const due = yield* sql<{ id: string }>`
    SELECT id FROM projects WHERE deleted_at IS NOT NULL AND deleted_at <= ${deletedUntil}`
  const removeOne = Effect.fnUntraced(function* (id: string) {
    const removed = yield* sql`
      DELETE FROM projects WHERE id = ${id} AND deleted_at IS NOT NULL AND deleted_at <= ${deletedUntil} RETURNING id`
    if (removed.length === 0) return 0
    yield* sql`DELETE FROM rollups WHERE scope = 'project' AND subject = ${id}`
    yield* sql`DELETE FROM rollup_durations WHERE scope = 'project' AND subject = ${id}`
    return 1
  })
  const removed = yield* Effect.forEach(due, ({ id }) => sql.withTransaction(removeOne(id)))
  return removed.reduce<number>((sum, one) => sum + one, 0)
})
