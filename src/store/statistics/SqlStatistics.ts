/** Reads statistics from the tables `rollups` and `rollup_durations`, and keeps them (RollUp.ts, Projects.ts). */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql"
import { mergeHistograms } from "../../domain/DurationHistogram.ts"
import { addCounts, runCounters } from "../../domain/RunCounts.ts"
import type { DurationMeasure, RunCounter, RunCounts } from "../../domain/RunCounts.ts"
import { bucketStarts, dayMillis, keptHoursSince, startOfDay, windowStarts } from "../../domain/StatisticsPeriods.ts"
import type { TimelineBucket, WindowName } from "../../domain/StatisticsPeriods.ts"
import { deleteInSteps } from "../../database/sql/DeleteInSteps.ts"
import { selectAs, unavailable } from "../../database/sql/StoreFailure.ts"
import { findRenamed, listProjects, markProject, markProjects, removeProjects } from "./Projects.ts"
import { wholeInstance } from "./RollUp.ts"
import type { RollUpScope } from "./RollUp.ts"
import { maxSubjects, Project, Statistics } from "../Statistics.ts"
import type { PeriodTotals, Totals } from "../Statistics.ts"

const noTotals: Totals = { counts: {}, durations: new Map(), firstComments: new Map() }

const addTotals = (a: Totals, b: Totals): Totals => ({
  counts: addCounts(a.counts, b.counts),
  durations: mergeHistograms(a.durations, b.durations),
  firstComments: mergeHistograms(a.firstComments, b.firstComments)
})

type CountsRow = Readonly<Record<RunCounter, number>>
interface SlotRow {
  readonly measure: DurationMeasure
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
  const measured = { run: new Map<K, Map<number, number>>(), first_comment: new Map<K, Map<number, number>>() }
  for (const { key, measure, runs, slot } of slots) {
    const { [measure]: histograms } = measured
    histograms.set(key, (histograms.get(key) ?? new Map<number, number>()).set(slot, Number(runs)))
  }
  return new Map(
    counts.map((row) => [
      row.key,
      {
        counts: toCounts(row),
        durations: measured.run.get(row.key) ?? new Map(),
        firstComments: measured.first_comment.get(row.key) ?? new Map()
      }
    ])
  )
}

/** Reads both tables, at the same time where the database has several connections. */
const readBoth = <K extends string | number>(
  counts: Effect.Effect<ReadonlyArray<CountsRow & { readonly key: K }>, SqlError.SqlError>,
  slots: Effect.Effect<ReadonlyArray<SlotRow & { readonly key: K }>, SqlError.SqlError>
) => Effect.map(Effect.all([counts, slots], { concurrency: 2 }), ([rows, durations]) => collect(rows, durations))

/** Reads the totals of the instance or of a team by start, from `from` on. */
const totalsByStart = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  [scope, subject]: readonly [RollUpScope, string],
  grain: "hour" | "day" | "all",
  from: number
): Effect.fn.Return<ReadonlyMap<number, Totals>, SqlError.SqlError> {
  const where = sql`scope = ${scope} AND grain = ${grain} AND start_at >= ${from} AND subject = ${subject}`
  return yield* readBoth(
    sql<CountsRow & { key: number }>`SELECT start_at AS key, rollups.* FROM rollups WHERE ${where}`,
    sql<SlotRow & { key: number }>`SELECT start_at AS key, measure, slot, runs FROM rollup_durations WHERE ${where}`
  )
})

/** Days whose totals are read: from that of `since` on, before that of `before`. */
interface Days {
  readonly since: number
  readonly before?: number | undefined
}

/** Reads the totals of these subjects, or of all of the scope, over all time or some days. */
const subjectTotals = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  scope: RollUpScope,
  days: Days | undefined,
  subjects?: ReadonlyArray<string>
): Effect.fn.Return<ReadonlyMap<string, Totals>, SqlError.SqlError> {
  if (subjects?.length === 0) return new Map()
  const named = subjects === undefined ? sql`1 = 1` : sql.in("subject", subjects)
  if (days === undefined) {
    const where = sql`scope = ${scope} AND grain = 'all' AND start_at = 0 AND ${named}`
    return yield* readBoth(
      sql<CountsRow & { key: string }>`SELECT subject AS key, rollups.* FROM rollups WHERE ${where}`,
      sql<SlotRow & { key: string }>`SELECT subject AS key, measure, slot, runs FROM rollup_durations WHERE ${where}`
    )
  }
  const where = sql`scope = ${scope} AND grain = 'day' AND start_at >= ${startOfDay(days.since)}
    AND start_at < ${days.before ?? Number.MAX_SAFE_INTEGER} AND ${named}`
  return yield* readBoth(
    sql<CountsRow & { key: string }>`
      SELECT subject AS key, ${sql.literal(sums)} FROM rollups WHERE ${where} GROUP BY subject`,
    sql<SlotRow & { key: string }>`
      SELECT subject AS key, measure, slot, SUM(runs) AS runs FROM rollup_durations WHERE ${where}
      GROUP BY subject, measure, slot`
  )
})

const instance = ["instance", wholeInstance] as const

const windows = (sql: SqlClient.SqlClient): Statistics["Service"]["windows"] =>
  Effect.fnUntraced(function* (now: number) {
    const starts = windowStarts(now)
    const first = Math.min(starts.week, starts.month)
    const read = Effect.all([totalsByStart(sql, instance, "day", first), totalsByStart(sql, instance, "all", 0)], {
      concurrency: 2
    })
    const [days, all] = yield* read
    const since = (name: WindowName) =>
      [...days].filter(([start]) => start >= starts[name]).reduce((sum, [, day]) => addTotals(sum, day), noTotals)
    return { all: all.get(0) ?? noTotals, today: since("today"), week: since("week"), month: since("month") }
  }, unavailable("statistics.windows"))

const toDays = (since: number | undefined): Days | undefined => (since === undefined ? undefined : { since })

const periods = (sql: SqlClient.SqlClient): Statistics["Service"]["periods"] =>
  Effect.fnUntraced(function* ({ by, since, until }) {
    if (since === undefined) {
      const totals = yield* subjectTotals(sql, by, undefined)
      return toPeriods(totals, undefined)
    }
    const [start, end] = [startOfDay(since), startOfDay(until - 1) + dayMillis]
    const [now, before] = yield* Effect.all(
      [
        subjectTotals(sql, by, { since: start, before: end }),
        subjectTotals(sql, by, { since: start - (end - start), before: start })
      ],
      { concurrency: 2 }
    )
    return toPeriods(now, before)
  }, unavailable("statistics.periods"))

/** Returns the subjects of both periods, by name. */
const toPeriods = (
  now: ReadonlyMap<string, Totals>,
  before: ReadonlyMap<string, Totals> | undefined
): ReadonlyArray<PeriodTotals> =>
  [...new Set([...now.keys(), ...(before?.keys() ?? [])])]
    .toSorted((a, b) => (a < b ? -1 : 1))
    .slice(0, maxSubjects)
    .map((name) => ({
      name,
      ...(now.get(name) ?? noTotals),
      before: before === undefined ? undefined : (before.get(name) ?? noTotals)
    }))

const projects = (sql: SqlClient.SqlClient): Statistics["Service"]["projects"] =>
  Effect.fnUntraced(function* ({ limit, since, team }) {
    const found = yield* selectAs(
      Project,
      "statistics.projects",
      sql`
        SELECT * FROM projects WHERE last_run_at >= ${startOfDay(since ?? 0)} AND ${team === undefined ? sql`1 = 1` : sql`team = ${team}`}
        ORDER BY last_run_at DESC, id LIMIT ${limit}`
    )
    const ids = found.map(({ id }) => id)
    const totals = yield* subjectTotals(sql, "project", toDays(since), ids)
    return found.map((project) => ({ project, ...(totals.get(project.id) ?? noTotals) }))
  }, unavailable("statistics.projects"))

const modelTotals = (sql: SqlClient.SqlClient): Statistics["Service"]["models"] =>
  Effect.fnUntraced(function* ({ limit, since }) {
    const named = yield* sql<{ subject: string }>`
      SELECT subject FROM rollups WHERE scope = 'model' AND grain = 'all' AND start_at = 0 ORDER BY subject LIMIT ${limit}`
    const models = named.map(({ subject }) => subject)
    const totals = yield* subjectTotals(sql, "model", toDays(since), models)
    return [...totals].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([model, sum]) => ({ model, ...sum }))
  }, unavailable("statistics.models"))

const timeline = (sql: SqlClient.SqlClient): Statistics["Service"]["timeline"] =>
  Effect.fnUntraced(function* (bucket: TimelineBucket, since: number | undefined, now: number, team?: string) {
    const starts = bucketStarts(bucket, since, now)
    const subject = team === undefined ? instance : (["team", team] as const)
    const totals = yield* totalsByStart(sql, subject, bucket, starts[0] ?? now)
    return starts.map((startAt) => ({ startAt, ...(totals.get(startAt) ?? noTotals) }))
  }, unavailable("statistics.timeline"))

const prune = (sql: SqlClient.SqlClient): Statistics["Service"]["prune"] =>
  Effect.fnUntraced(function* (deletedUntil, now) {
    for (const [table, columns] of [
      ["rollups", "start_at, subject"],
      ["rollup_durations", "start_at, subject, measure, slot"]
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
      periods: periods(sql),
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
