/**
 * Reading statistics of 1 000 000 runs of two years, in 200 projects with five models: what `GET /api/admin/stats` reads, and the projects of 30
 * days. The runs are added as sums per project and day, as they would be after their ends.
 */
import { Effect, Layer, ManagedRuntime } from "effect"
import { SqlClient } from "effect/sql"
import { readSummary } from "../../src/admin/handlers/StatisticsHandlers.ts"
import { findSlot } from "../../src/domain/DurationHistogram.ts"
import type { RunCounts } from "../../src/domain/RunCounts.ts"
import { dayMillis } from "../../src/domain/StatisticsPeriods.ts"
import { ensureProject } from "../../src/store/statistics/Projects.ts"
import { rollUp } from "../../src/store/statistics/RollUp.ts"
import type { Increment } from "../../src/store/statistics/RollUp.ts"
import { maxSubjects, Statistics } from "../../src/store/Statistics.ts"
import { databases, postgres } from "../store/Databases.ts"
import type { Database } from "../store/Databases.ts"
import { publishRun, settle } from "../store/EndedRuns.ts"
import { change } from "../store/Fixtures.ts"
import { median } from "./Median.ts"

const days = 730
const projects = 200
const models = 5
const allRuns = 1_000_000
const now = Date.now()

/** Counts of some runs of one project and day. */
const countsOf = (runs: number): RunCounts => ({
  runs_succeeded: runs,
  problems_medium: runs * 2,
  files: runs * 10,
  lines: runs * 400,
  requests: runs * 6,
  input_tokens: runs * 60_000,
  output_tokens: runs * 4000,
  cached_tokens: runs * 30_000,
  cost_nanos: runs * 80_000_000,
  runs_priced: runs,
  duration_ms: runs * 90_000,
  duration_runs: runs,
  findings: runs * 2,
  findings_fixed: runs
})

const fill = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const ids: Array<string> = []
  for (let at = 0; at < projects; at++) {
    const repo = { ...change().repo, fullName: `team/repository-${at}` }
    ids.push(yield* ensureProject(sql, `workspace-${at % 20}`, { ...change(), repo }, undefined, now))
  }
  let added = 0
  for (let day = 0; day < days; day++) {
    const at = now - day * dayMillis
    const increments = ids.flatMap((id, project): ReadonlyArray<Increment> => {
      const cell = day * projects + project + 1
      const runs = Math.floor((cell * allRuns) / (days * projects)) - added
      added += runs
      const one = { at, counts: countsOf(runs), slots: { run: findSlot(20_000 + ((cell * 7919) % 300_000)) } }
      return [
        { ...one, scope: "project", subject: id },
        { ...one, scope: "instance", subject: "" },
        { ...one, scope: "model", subject: `provider/model-${project % models}` }
      ]
    })
    yield* sql.withTransaction(rollUp(sql, increments, now))
  }
  for (let number = 0; number < 25; number++) yield* settle(yield* publishRun({ number, startedAt: now - 9000 }), now)
})

const readMonth = Statistics.use((statistics) =>
  statistics.projects({ since: now - 30 * dayMillis, limit: maxSubjects })
)

const rounds = 21

const measure = async (layer: Database) => {
  const runtime = ManagedRuntime.make(layer)
  const millisOf = async (effect: Effect.Effect<unknown, unknown, Layer.Success<Database>>) => {
    const before = performance.now()
    await runtime.runPromise(Effect.orDie(effect))
    return performance.now() - before
  }
  await millisOf(fill)
  const counted = await runtime.runPromise(Effect.orDie(readSummary))
  const { succeeded } = counted.windows.all.runs
  if (succeeded < allRuns) throw new Error(`only ${succeeded} runs are counted`)
  const summary: Array<number> = []
  const month: Array<number> = []
  for (let round = 0; round < rounds; round++) {
    summary.push(await millisOf(readSummary))
    month.push(await millisOf(readMonth))
  }
  await runtime.dispose()
  return { summary: median(summary), month: median(month) }
}

/** Returns the median times in milliseconds, on SQLite and on Postgres. */
export const measureStatistics = async (): Promise<Record<string, number>> => {
  const result: Record<string, number> = {}
  for (const { layer, name } of databases) {
    const suffix = name === "sqlite" ? "" : `_${name}`
    const { month, summary } = await measure(layer())
    result[`stats_ms${suffix}`] = summary
    result[`stats_projects_ms${suffix}`] = month
  }
  await (await postgres()).stop()
  return result
}
