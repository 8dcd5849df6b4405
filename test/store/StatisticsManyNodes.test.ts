/** Two nodes end the same runs and remove records at the same time: each run counts once. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Context } from "effect"
import { join } from "node:path"
import { SqlClient } from "effect/sql"
import { dayMillis } from "../../src/domain/StatisticsPeriods.ts"
import { Runs } from "../../src/store/Runs.ts"
import { Statistics } from "../../src/store/Statistics.ts"
import * as Store from "../../src/store/StoreLayer.ts"
import { freshDatabase, postgresAt } from "./Databases.ts"
import type { Database } from "./Databases.ts"
import { publishRun, settle } from "./EndedRuns.ts"
import { folder } from "./Folder.ts"

const today = Date.UTC(2026, 2, 4, 12, 34)
/** Half of the runs ended two months ago: retention has removed their hours. */
const endOf = (number: number): number => (number % 2 === 0 ? today : today - 60 * dayMillis)
const count = 24

type Node = Context.Context<Layer.Success<Database>>

const removeAll = Effect.gen(function* () {
  const statistics = yield* Statistics
  const removed = yield* Runs.use((runs) => runs.prune({ maxCount: 0, before: today + 1 }))
  yield* statistics.prune(today, today)
  return removed
})

/** Performs the work of one node; the other one does the same with the same runs. */
const work = Effect.fnUntraced(function* (ids: ReadonlyArray<readonly [string, number]>) {
  const ending = Effect.forEach(ids, ([id, number]) => settle(id, endOf(number)), { concurrency: 4 })
  const removing = Effect.repeat(Effect.andThen(Effect.yieldNow, removeAll), { times: 8 })
  yield* Effect.all([ending, removing], { concurrency: "unbounded" })
})

const sums = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ scope: string; grain: string; start_at: number; runs: number; durations: number }>`
    SELECT scope, grain, start_at, SUM(runs_succeeded) AS runs, SUM(duration_runs) AS durations FROM rollups
    WHERE scope IN ('instance', 'project') GROUP BY scope, grain, start_at ORDER BY scope, grain, start_at`
  const [left] = yield* sql<{ runs: number }>`SELECT COUNT(*) AS runs FROM runs`
  return {
    left: Number(left?.runs),
    rows: rows.map((row) => [row.scope, row.grain, Number(row.start_at), Number(row.runs), Number(row.durations)])
  }
})

const startOfDay = (at: number): number => at - (at % dayMillis)

const play = Effect.fnUntraced(function* (open: () => Database) {
  const nodes: ReadonlyArray<Node> = yield* Effect.forEach([open(), open()], (node) => Layer.build(Layer.fresh(node)))
  const [first, second] = nodes
  if (first === undefined || second === undefined) return assert.fail("no nodes")
  const as = <A, E, R>(node: Node, effect: Effect.Effect<A, E, R>) => Effect.provideContext(effect, node)
  const numbers = [...Array(count).keys()]
  const ids = yield* Effect.forEach(numbers, (number) =>
    as(
      number % 2 === 0 ? first : second,
      Effect.map(publishRun({ number, startedAt: endOf(number) - 60_000 }), (id) => [id, number] as const)
    )
  )
  yield* Effect.all([as(first, work(ids)), as(second, work(ids))], { concurrency: 2 })
  yield* as(second, removeAll)
  const { left, rows } = yield* as(second, sums)
  assert.strictEqual(left, 0)
  const [all, half] = [count, count / 2]
  const days = [startOfDay(today - 60 * dayMillis), startOfDay(today)]
  const rowsOf = (scope: string) => [[scope, "all", 0, all, all], ...days.map((day) => [scope, "day", day, half, half])]
  const hour = today - (today % 3_600_000)
  assert.deepStrictEqual(rows, [...rowsOf("instance"), ["instance", "hour", hour, half, half], ...rowsOf("project")])
})

describe("two nodes", () => {
  it.live(
    "count each run once in SQLite, while both remove records",
    () =>
      Effect.gen(function* () {
        const path = join(yield* folder, "svc.db")
        yield* play(() => Store.layerSqlite({ path, migrate: "auto" }))
      }),
    60_000
  )

  it.live(
    "count each run once in Postgres, while both remove records",
    () =>
      Effect.gen(function* () {
        const url = yield* Effect.promise(freshDatabase)
        yield* play(() => postgresAt(url))
      }),
    60_000
  )
})
