/** The time of each list of the dashboard, with a million runs and a hundred thousand deliveries, on SQLite and Postgres. */
import { Effect, Layer, ManagedRuntime } from "effect"
import * as SqliteClient from "../../../src/database/sqlite/SqliteClient.ts"
import { dayMillis } from "../../../src/domain/StatisticsPeriods.ts"
import { firstIdAt } from "../../../src/domain/Ids.ts"
import { searchTerms } from "../../../src/domain/SearchText.ts"
import { TargetKey } from "../../../src/domain/Keys.ts"
import { Receipts } from "../../../src/store/Receipts.ts"
import type { EventFilter } from "../../../src/store/Receipts.ts"
import { Runs, runValues } from "../../../src/store/Runs.ts"
import type { RunFilter } from "../../../src/store/Runs.ts"
import * as Store from "../../../src/store/StoreLayer.ts"
import { freshDatabase, postgres, postgresAt } from "../../store/Databases.ts"
import type { Database } from "../../store/Databases.ts"
import { fillRecords } from "./FillRecords.ts"
import type { Sizes } from "./FillRecords.ts"
import { median } from "../Median.ts"

/** Rows of a page of the dashboard, and one for the next page. */
const limit = 101
const rounds = 9

const failed = ["failed", "timeout"] as const
const running = ["queued", "preparing", "analyzing", "publishing"] as const

const runFilters = (now: number): Readonly<Record<string, Omit<RunFilter, "limit">>> => ({
  all: {},
  deep: { before: firstIdAt(now - 15 * dayMillis) },
  // The newest runs of changes are those of the last 22.5 days.
  tail: { before: firstIdAt(now - 22.49 * dayMillis) },
  "beyond the tail": { before: firstIdAt(now - 45 * dayMillis) },
  oldest: { oldestFirst: true },
  workspace: { workspace: "team-3" },
  "tail of a workspace": { workspace: "team-3", before: firstIdAt(now - 22.49 * dayMillis) },
  "tail of failed": { statuses: failed, before: firstIdAt(now - 22.49 * dayMillis) },
  "oldest of a repository": { repo: "team/service-7", oldestFirst: true },
  failed: { statuses: failed },
  running: { statuses: running },
  "failed of a workspace": { workspace: "team-3", statuses: failed },
  "failed of a day": { statuses: failed, since: now - dayMillis },
  repository: { repo: "team/service-7" },
  "failed of a repository": { repo: "team/service-7", statuses: failed },
  "pull request": { repo: "team/service-7", number: 7 },
  number: { number: 7 },
  trigger: { trigger: "host-2" },
  "rare trigger": { trigger: "rare" },
  "no such trigger": { trigger: "none" },
  "no such workspace": { workspace: "none", statuses: failed },
  target: { targetKey: TargetKey.make("host-2:team/service-7:pull_request:7") }
})

const valueOrders: Readonly<Record<string, Omit<RunFilter, "limit">>> = Object.fromEntries(
  runValues.flatMap((by) =>
    [true, false].flatMap((smallestFirst): ReadonlyArray<readonly [string, Omit<RunFilter, "limit">]> => {
      const order = { by, smallestFirst }
      const name = `by ${by}, ${smallestFirst ? "smallest" : "largest"} first`
      const from = { value: 300_000, id: firstIdAt(0) }
      return [
        [name, { order }],
        [`${name}, deep`, { order: { ...order, from } }],
        [`${name}, of a workspace`, { order: { ...order, from }, workspace: "team-3" }],
        [`${name}, of no workspace`, { order, workspace: "none" }]
      ]
    })
  )
)

/** Words of every run, of one in some hundred, of one at the end of the list, and of none. */
const searches = ["report", "service-7#7", "team-3 service-7#7", "#249999", "nowhere"]

const eventFilters = (now: number): Readonly<Record<string, Omit<EventFilter, "limit">>> => ({
  all: {},
  deep: { before: firstIdAt(now - 45 * dayMillis) },
  oldest: { oldestFirst: true },
  "oldest of a rare trigger": { trigger: "rare", oldestFirst: true },
  workspace: { workspace: "team-3" },
  drafts: { decision: "ignored", reason: "draft" },
  "rare reason": { decision: "ignored", reason: "ambiguous_route" },
  rejected: { decision: "rejected" },
  "failed outcome": { outcome: "failed" },
  "rare trigger": { trigger: "rare" },
  repository: { repo: "team/service-7" },
  "no such repository": { repo: "team/none" },
  "pull request": { repo: "team/service-7", number: 7 },
  target: { targetKey: TargetKey.make("host-2:team/service-7:pull_request:7") }
})

type List = readonly [name: string, read: Effect.Effect<unknown, unknown, Layer.Success<Database>>]

const makeLists = (now: number): ReadonlyArray<List> => [
  ...Object.entries(runFilters(now)).flatMap(([name, filter]): ReadonlyArray<List> => [
    [`runs: ${name}`, Runs.use((runs) => runs.list({ ...filter, limit }))],
    [`changes: ${name}`, Runs.use((runs) => runs.newest({ ...filter, limit }))]
  ]),
  ...Object.entries(valueOrders).map(([name, filter]): List => [
    `runs: ${name}`,
    Runs.use((runs) => runs.list({ ...filter, limit }))
  ]),
  ...searches.flatMap((text) =>
    [false, true].map((isNewest): List => [
      `${isNewest ? "changes" : "runs"}: search for ${text}`,
      Runs.use((runs) => runs.search({ terms: searchTerms(text), isNewest, limit }))
    ])
  ),
  ...Object.entries(eventFilters(now)).map(([name, filter]): List => [
    `deliveries: ${name}`,
    Receipts.use((receipts) => receipts.list({ ...filter, limit }))
  ]),
  ...searches.map((text): List => [
    `deliveries: search for ${text}`,
    Receipts.use((receipts) => receipts.search({ terms: searchTerms(text), limit }))
  ]),
  ["reasons of a week", Receipts.use((receipts) => receipts.countDecisions({ since: now - 7 * dayMillis }))],
  ["reasons", Receipts.use((receipts) => receipts.countDecisions({}))],
  [
    "activity of triggers",
    Receipts.use((receipts) => receipts.activity({ since: now - 7 * dayMillis, recentSince: now - dayMillis }))
  ]
]

/** Returns the median time of the slowest list. */
const measure = async (name: string, layer: Database, sizes: Sizes): Promise<number> => {
  const runtime = ManagedRuntime.make(layer)
  const timed = async (effect: List[1]): Promise<number> => {
    const before = performance.now()
    await runtime.runPromise(Effect.orDie(effect))
    return performance.now() - before
  }
  process.stderr.write(`${name}: filled in ${((await timed(fillRecords(sizes))) / 1000).toFixed(0)} s\n`)
  let worst = 0
  for (const [list, read] of makeLists(Date.now())) {
    await timed(read)
    const times: Array<number> = []
    // A list that takes seconds is not read again and again.
    for (let round = 0; round < rounds && times.reduce((sum, time) => sum + time, 0) < 2000; round++)
      times.push(await timed(read))
    const millis = median(times)
    if (millis > 20) process.stderr.write(`  ${millis.toFixed(0).padStart(6)} ms  ${list}\n`)
    worst = Math.max(worst, millis)
  }
  await runtime.dispose()
  return worst
}

/** Measures lists in a file of SQLite, which keeps the records, and in Postgres. */
export const measureLists = async (sizes: Sizes, path: string): Promise<Readonly<Record<string, number>>> => {
  try {
    const file: Database = Layer.provideMerge(Store.layer("auto"), SqliteClient.layer({ path }))
    const sqlite = await measure("sqlite", file, sizes)
    const server = await measure("postgres", postgresAt(await freshDatabase()), sizes)
    return { list_ms_1m: sqlite, list_ms_1m_postgres: server }
  } finally {
    await (await postgres()).stop()
  }
}
