/**
 * Adds counts to the tables `rollups` and `rollup_durations`, in the transaction of the caller. The sums of one instance are few rows that every
 * end of a run updates: callers do this last, and always in the same order, so that transactions wait for each other and never deadlock.
 */
import { Array as Arr, Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { addCounts, durationMeasures, runCounters } from "../../domain/RunCounts.ts"
import type { DurationMeasure, RunCounts, Slots } from "../../domain/RunCounts.ts"
import type { PeriodScope } from "../Statistics.ts"
import { keptHoursSince, startOfDay, startOfHour } from "../../domain/StatisticsPeriods.ts"

export type RollUpScope = PeriodScope | "project" | "model"
type RollUpGrain = "hour" | "day" | "all"

/** Subject of the counts of an instance. */
export const wholeInstance = ""

/** Counts to add for one subject at one time. */
export interface Increment {
  readonly scope: RollUpScope
  readonly subject: string
  readonly at: number
  readonly counts: RunCounts
  /** Slots of durations that are added. */
  readonly slots?: Slots | undefined
}

const grains: Readonly<Record<RollUpScope, ReadonlyArray<RollUpGrain>>> = {
  instance: ["hour", "day", "all"],
  team: ["day", "all"],
  workspace: ["day", "all"],
  project: ["day", "all"],
  model: ["day", "all"]
}

const startOf = { hour: startOfHour, day: startOfDay, all: () => 0 } as const satisfies Record<
  RollUpGrain,
  (at: number) => number
>

interface Sum {
  readonly key: { readonly scope: string; readonly grain: string; readonly start_at: number; readonly subject: string }
  counts: RunCounts
  /** Number of runs by measure and slot. */
  readonly durations: Map<string, { readonly measure: DurationMeasure; readonly slot: number; runs: number }>
}

/** Returns the rows to add, in the order of their keys. Hours that retention has removed are skipped. */
const toSums = (increments: ReadonlyArray<Increment>, now: number): ReadonlyArray<Sum> => {
  const sums = new Map<string, Sum>()
  for (const { at, counts, scope, slots = {}, subject } of increments) {
    for (const grain of grains[scope]) {
      if (grain === "hour" && at < keptHoursSince(now)) continue
      const key = { scope, grain, start_at: startOf[grain](at), subject }
      const name = JSON.stringify(Object.values(key))
      const sum: Sum = sums.get(name) ?? { key, counts: {}, durations: new Map() }
      sum.counts = addCounts(sum.counts, counts)
      for (const measure of durationMeasures) {
        const { [measure]: slot } = slots
        if (slot === undefined) continue
        const duration = sum.durations.get(`${measure} ${slot}`) ?? { measure, slot, runs: 0 }
        duration.runs++
        sum.durations.set(`${measure} ${slot}`, duration)
      }
      sums.set(name, sum)
    }
  }
  return [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum)
}

const additions = runCounters.map((name) => `${name} = rollups.${name} + excluded.${name}`).join(", ")

/** Keeps an insert below the maximum number of parameters of a statement. */
const rowsPerInsert = 200

const zero = Object.fromEntries(runCounters.map((name) => [name, 0]))

export const rollUp = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  increments: ReadonlyArray<Increment>,
  now: number
): Effect.fn.Return<void, SqlError.SqlError> {
  const sums = toSums(increments, now)
  const durations = sums.flatMap(({ durations: own, key }) => [...own.values()].map((one) => ({ ...key, ...one })))
  for (const chunk of Arr.chunksOf(sums, rowsPerInsert)) {
    yield* sql`
      INSERT INTO rollups ${sql.insert(Arr.map(chunk, ({ counts, key }) => ({ ...key, ...zero, ...counts })))}
      ON CONFLICT (scope, grain, start_at, subject) DO UPDATE SET ${sql.literal(additions)}`
  }
  for (const chunk of Arr.chunksOf(durations, rowsPerInsert)) {
    yield* sql`
      INSERT INTO rollup_durations ${sql.insert(chunk)}
      ON CONFLICT (scope, grain, start_at, subject, measure, slot) DO UPDATE SET runs = rollup_durations.runs + excluded.runs`
  }
})
