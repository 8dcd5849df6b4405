/** Reads statistics from the tables `rollups` and `rollup_durations`, and keeps them (RollUp.ts, Projects.ts). */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql"
import { mergeHistograms } from "../../domain/DurationHistogram.ts"
import { addCounts, runCounters } from "../../domain/RunCounts.ts"
import type { RunCounter, RunCounts } from "../../domain/RunCounts.ts"
import { bucketStarts, keptHoursSince, startOfDay, windowStarts } from "../../domain/StatisticsPeriods.ts"
import type { TimelineBucket, WindowName } from "../../domain/StatisticsPeriods.ts"
import { deleteInSteps } from "../../database/sql/DeleteInSteps.ts"
import { selectAs, unavailable } from "../../database/sql/StoreFailure.ts"
import { findRenamed, listProjects, markProject, markProjects, removeProjects } from "./Projects.ts"
import { wholeInstance } from "./RollUp.ts"
import type { RollUpScope } from "./RollUp.ts"
import { Project, Statistics } from "../Statistics.ts"
import type { Totals } from "../Statistics.ts"

const noTotals: Totals = { counts: {}, durations: new Map() }

const addTotals = (a: Totals, b: Totals): Totals => ({
  counts: addCounts(a.counts, b.counts),
  durations: mergeHistograms(a.durations, b.durations)
})

type CountsRow = Readonly<Record<RunCounter, number>>
interface SlotRow {
  readonly slot: number
  readonly runs: number
}

const toCounts = (row: CountsRow): RunCounts =>
  Object.fromEntries(runCounters.map((counter) => [counter, Number(row[counter])]))

const sums = runCounters.map((counter) => `SUM(${counter}) AS ${counter}`).join(", ")

/** Collects the rows of both tables by a key. */
const collect = <K extends string | number>(
  counts: ReadonlyArray<CountsRow & { readonly key: K }>,
  slots: ReadonlyArray<SlotRow & { readonly key: K }>
): ReadonlyMap<K, Totals> => {
  const durations = new Map<K, Map<number, number>>()
  for (const { key, runs, slot } of slots) {
    durations.set(key, (durations.get(key) ?? new Map<number, number>()).set(slot, Number(runs)))
  }
  return new Map(
    counts.map((row) => [row.key, { counts: toCounts(row), durations: durations.get(row.key) ?? new Map() }])
  )
}

/** Reads both tables, at the same time where the database has several connections. */
const readBoth = <K extends string | number>(
  counts: Effect.Effect<ReadonlyArray<CountsRow & { readonly key: K }>, SqlError.SqlError>,
  slots: Effect.Effect<ReadonlyArray<SlotRow & { readonly key: K }>, SqlError.SqlError>
) => Effect.map(Effect.all([counts, slots], { concurrency: 2 }), ([rows, durations]) => collect(rows, durations))

/** Reads the totals of the instance by start, from `from` on. */
const instanceTotals = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  grain: "hour" | "day" | "all",
  from: number
): Effect.fn.Return<ReadonlyMap<number, Totals>, SqlError.SqlError> {
  const where = sql`scope = 'instance' AND grain = ${grain} AND start_at >= ${from} AND subject = ${wholeInstance}`
  return yield* readBoth(
    sql<CountsRow & { key: number }>`SELECT start_at AS key, rollups.* FROM rollups WHERE ${where}`,
    sql<SlotRow & { key: number }>`SELECT start_at AS key, slot, runs FROM rollup_durations WHERE ${where}`
  )
})

/** Reads the totals of these subjects, over all time or the days from `since` on. */
const subjectTotals = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  scope: RollUpScope,
  since: number | undefined,
  subjects: ReadonlyArray<string>
): Effect.fn.Return<ReadonlyMap<string, Totals>, SqlError.SqlError> {
  if (subjects.length === 0) return new Map()
  const named = sql.in("subject", subjects)
  if (since === undefined) {
    const where = sql`scope = ${scope} AND grain = 'all' AND start_at = 0 AND ${named}`
    return yield* readBoth(
      sql<CountsRow & { key: string }>`SELECT subject AS key, rollups.* FROM rollups WHERE ${where}`,
      sql<SlotRow & { key: string }>`SELECT subject AS key, slot, runs FROM rollup_durations WHERE ${where}`
    )
  }
  const where = sql`scope = ${scope} AND grain = 'day' AND start_at >= ${startOfDay(since)} AND ${named}`
  return yield* readBoth(
    sql<CountsRow & { key: string }>`
      SELECT subject AS key, ${sql.literal(sums)} FROM rollups WHERE ${where} GROUP BY subject`,
    sql<SlotRow & { key: string }>`
      SELECT subject AS key, slot, SUM(runs) AS runs FROM rollup_durations WHERE ${where} GROUP BY subject, slot`
  )
})

const windows = (sql: SqlClient.SqlClient): Statistics["Service"]["windows"] =>
  Effect.fnUntraced(function* (now: number) {
    const starts = windowStarts(now)
    const first = Math.min(starts.week, starts.month)
    const read = Effect.all([instanceTotals(sql, "day", first), instanceTotals(sql, "all", 0)], { concurrency: 2 })
    const [days, all] = yield* read
    const since = (name: WindowName) =>
      [...days].filter(([start]) => start >= starts[name]).reduce((sum, [, day]) => addTotals(sum, day), noTotals)
    return { all: all.get(0) ?? noTotals, today: since("today"), week: since("week"), month: since("month") }
  }, unavailable("statistics.windows"))

const projects = (sql: SqlClient.SqlClient): Statistics["Service"]["projects"] =>
  Effect.fnUntraced(function* ({ limit, since }) {
    const found = yield* selectAs(
      Project,
      "statistics.projects",
      sql`
        SELECT * FROM projects WHERE last_run_at >= ${startOfDay(since ?? 0)}
        ORDER BY last_run_at DESC, id LIMIT ${limit}`
    )
    const ids = found.map(({ id }) => id)
    const totals = yield* subjectTotals(sql, "project", since, ids)
    return found.map((project) => ({ project, ...(totals.get(project.id) ?? noTotals) }))
  }, unavailable("statistics.projects"))

const modelTotals = (sql: SqlClient.SqlClient): Statistics["Service"]["models"] =>
  Effect.fnUntraced(function* ({ limit, since }) {
    const named = yield* sql<{ subject: string }>`
      SELECT subject FROM rollups WHERE scope = 'model' AND grain = 'all' AND start_at = 0 ORDER BY subject LIMIT ${limit}`
    const models = named.map(({ subject }) => subject)
    const totals = yield* subjectTotals(sql, "model", since, models)
    return [...totals].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([model, sum]) => ({ model, ...sum }))
  }, unavailable("statistics.models"))

const timeline = (sql: SqlClient.SqlClient): Statistics["Service"]["timeline"] =>
  Effect.fnUntraced(function* (bucket: TimelineBucket, since: number | undefined, now: number) {
    const starts = bucketStarts(bucket, since, now)
    const totals = yield* instanceTotals(sql, bucket, starts[0] ?? now)
    return starts.map((startAt) => ({ startAt, ...(totals.get(startAt) ?? noTotals) }))
  }, unavailable("statistics.timeline"))

const prune = (sql: SqlClient.SqlClient): Statistics["Service"]["prune"] =>
  Effect.fnUntraced(function* (deletedUntil, now) {
    for (const [table, columns] of [
      ["rollups", "start_at, subject"],
      ["rollup_durations", "start_at, subject, slot"]
    ] as const) {
      const key = sql.literal(columns)
      yield* deleteInSteps(
        (step) => sql`
          DELETE FROM ${sql(table)} WHERE scope = 'instance' AND grain = 'hour' AND (${key}) IN (
            SELECT ${key} FROM ${sql(table)}
            WHERE scope = 'instance' AND grain = 'hour' AND start_at < ${keptHoursSince(now)} LIMIT ${step})
          RETURNING subject`
      )
    }
    return yield* removeProjects(sql, deletedUntil)
  }, unavailable("statistics.prune"))

export const layer: Layer.Layer<Statistics, never, SqlClient.SqlClient> = Layer.effect(
  Statistics,
  Effect.map(SqlClient.SqlClient, (sql) =>
    Statistics.of({
      windows: windows(sql),
      projects: projects(sql),
      models: modelTotals(sql),
      timeline: timeline(sql),
      findRenamed: (repository) => unavailable("statistics.findRenamed")(findRenamed(sql, repository)),
      listProjects: (filter) => unavailable("statistics.listProjects")(listProjects(sql, filter)),
      markProject: (id, by, now) => unavailable("statistics.markProject")(markProject(sql, id, by, now)),
      markProjects: (isConfigured, now) => unavailable("statistics.mark")(markProjects(sql, isConfigured, now)),
      prune: prune(sql)
    })
  )
)
