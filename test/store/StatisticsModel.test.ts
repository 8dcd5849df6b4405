/** Statistics equal what is computed from the records of all runs, after any sequence of beginnings, ends, repetitions and removals. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, ManagedRuntime } from "effect"
import { SqlClient } from "effect/sql"
import * as fc from "fast-check"
import type { Analysis } from "../../src/domain/Analysis.ts"
import { hostTrigger } from "../../src/domain/Change.ts"
import { findSlot } from "../../src/domain/DurationHistogram.ts"
import { toNanos, Usd } from "../../src/domain/Money.ts"
import type { RunCounter } from "../../src/domain/RunCounts.ts"
import { runLifecycle } from "../../src/domain/Run.ts"
import type { RunStatus } from "../../src/domain/Run.ts"
import { dayMillis } from "../../src/domain/StatisticsPeriods.ts"
import { Runs } from "../../src/store/Runs.ts"
import type { Run } from "../../src/store/Runs.ts"
import { maxSubjects, Statistics } from "../../src/store/Statistics.ts"
import { databases } from "./Databases.ts"
import { beginRun, by, token } from "./EndedRuns.ts"
import { analysis } from "./Fixtures.ts"

const firstDay = Date.UTC(2026, 0, 1)
/** The steps of one run. */
interface Steps {
  readonly workspace: string
  readonly repo: string
  readonly number: number
  readonly head: string
  readonly day: number
  readonly millis: number
  readonly analysis: Analysis | undefined
  readonly to: "succeeded" | "failed" | "timeout" | "cancelled" | "skipped"
  readonly isPartial: boolean
  readonly repetitions: number
  /** Removes all ended runs afterwards. */
  readonly isPruned: boolean
}

const finding = (name: string, severity: "low" | "high"): Analysis["findings"][number] => ({
  fingerprint: name.repeat(32),
  problem: { file: "a.ts", severity, category: "bug", message: name }
})
const usage = (requests: number, cost: number | undefined): Analysis["usage"] => {
  const amounts = { requests, inputTokens: requests * 10, outputTokens: 5, cachedTokens: 1 }
  const priced = cost === undefined ? amounts : { ...amounts, costUsd: Usd.make(cost) }
  return requests === 0 ? priced : { ...priced, byModel: { "demo/rules": { ...priced, reasoningTokens: 2 } } }
}
const reviews = fc.record({
  findings: fc.subarray([finding("a", "low"), finding("b", "high"), finding("c", "high")]),
  usage: fc.constantFrom(usage(0, 0), usage(1, 0.25), usage(3, undefined), usage(2, 0)),
  lines: fc.nat({ max: 1000 })
})
const steps: fc.Arbitrary<Steps> = fc.record({
  workspace: fc.constantFrom("app", "web"),
  repo: fc.constantFrom("Acme/App", "acme/app", "acme/other"),
  number: fc.integer({ min: 1, max: 3 }),
  head: fc.constantFrom("a".repeat(40), "b".repeat(40)),
  day: fc.nat({ max: 40 }),
  millis: fc.nat({ max: 10_000_000 }),
  analysis: fc.option(
    reviews.map(({ findings, lines, usage: spent }) => ({
      ...analysis,
      findings,
      usage: spent,
      coverage: { ...analysis.coverage, lines }
    })),
    { nil: undefined }
  ),
  to: fc.constantFrom("succeeded", "failed", "timeout", "cancelled", "skipped"),
  isPartial: fc.boolean(),
  repetitions: fc.nat({ max: 2 }),
  isPruned: fc.boolean()
})

const apply = Effect.fnUntraced(function* (one: Steps, records: Map<string, Run>, outcomes: Map<string, OutcomeRow>) {
  const runs = yield* Runs
  const startedAt = firstDay + one.day * dayMillis
  const now = startedAt + one.millis
  const id = yield* beginRun({ ...one, startedAt })
  yield* runs.move(id, token, "analyzing", startedAt)
  const { to } = one
  const isSettled = one.analysis !== undefined && (to === "succeeded" || to === "failed" || to === "skipped")
  if (isSettled && one.analysis !== undefined) yield* runs.complete(id, token, one.analysis, [], now)
  for (let time = 0; time <= one.repetitions; time++) {
    if (isSettled) yield* runs.settle(id, to, { partial: one.isPartial, by }, now + time)
    else if (to === "succeeded") yield* runs.move(id, token, "failed", now + time)
    else yield* runs.move(id, token, to, now + time)
  }
  const run = yield* runs.get(id)
  if (run !== undefined) records.set(id, run)
  const sql = yield* SqlClient.SqlClient
  for (const row of yield* sql<OutcomeRow>`SELECT * FROM finding_outcomes`) {
    outcomes.set(`${row.target_key} ${row.fingerprint}`, row)
  }
  if (!one.isPruned) return
  yield* runs.prune({ maxCount: 0, before: 0 })
  assert.isEmpty((yield* runs.list({ limit: 1000 })).filter(({ status }) => runLifecycle.isTerminal(status)))
})

interface OutcomeRow {
  readonly target_key: string
  readonly fingerprint: string
  readonly outcome: string
  readonly found_at: number
}

const isTimed = (status: RunStatus) => status === "succeeded" || status === "failed" || status === "timeout"

/** Computes counts from records. */
const compute = (
  records: ReadonlyArray<Run>,
  outcomes: ReadonlyArray<OutcomeRow>
): Partial<Record<RunCounter, number>> => {
  const sum = (of: (run: Run) => number) => records.reduce((total, run) => total + of(run), 0)
  const states = Object.fromEntries(
    (["succeeded", "failed", "timeout", "cancelled", "skipped"] as const).map((status) => [
      `runs_${status}`,
      sum((run) => Number(run.status === status))
    ])
  )
  const called = (run: Run) => run.analysis === undefined || run.analysis.usage.requests > 0
  const millis = (run: Run) => (run.finishedAt ?? 0) - (run.startedAt ?? 0)
  const decided = (outcome: string) => outcomes.filter((row) => row.outcome === outcome).length
  const of = (severity: string) =>
    sum((run) => (run.analysis?.findings ?? []).filter(({ problem }) => problem.severity === severity).length)
  return {
    ...states,
    runs_partial: sum((run) => Number(run.partial)),
    problems_low: of("low"),
    problems_high: of("high"),
    files: sum((run) => run.analysis?.coverage.reviewed.length ?? 0),
    lines: sum((run) => run.analysis?.coverage.lines ?? 0),
    requests: sum((run) => run.analysis?.usage.requests ?? 0),
    input_tokens: sum((run) => run.analysis?.usage.inputTokens ?? 0),
    output_tokens: sum((run) => run.analysis?.usage.outputTokens ?? 0),
    cached_tokens: sum((run) => run.analysis?.usage.cachedTokens ?? 0),
    reasoning_tokens: sum((run) => ((run.analysis?.usage.requests ?? 0) > 0 ? 2 : 0)),
    cost_nanos: sum((run) => toNanos(run.analysis?.usage.costUsd ?? Usd.make(0))),
    runs_priced: sum((run) => Number(called(run) && run.analysis?.usage.costUsd !== undefined)),
    runs_unpriced: sum((run) => Number(called(run) && run.analysis?.usage.costUsd === undefined)),
    duration_ms: sum((run) => (isTimed(run.status) ? millis(run) : 0)),
    duration_runs: sum((run) => Number(isTimed(run.status))),
    findings: outcomes.length,
    findings_fixed: decided("fixed"),
    findings_dismissed: decided("dismissed")
  }
}

const nonzero = (counts: object) => Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0))

const groupBy = <A>(items: ReadonlyArray<A>, key: (item: A) => string | number) => {
  const groups = new Map<string | number, Array<A>>()
  for (const item of items) groups.set(key(item), [...(groups.get(key(item)) ?? []), item])
  return groups
}

const slotsOf = (records: ReadonlyArray<Run>) =>
  new Map(
    [
      ...groupBy(
        records.filter(({ status }) => isTimed(status)),
        (run) => findSlot((run.finishedAt ?? 0) - (run.startedAt ?? 0))
      )
    ].map(([slot, runs]) => [slot, runs.length])
  )

const sorted = (map: ReadonlyMap<string | number, unknown>) =>
  new Map([...map].toSorted(([a], [b]) => (a < b ? -1 : 1)))

const compare = Effect.fnUntraced(function* (records: ReadonlyArray<Run>, outcomes: ReadonlyArray<OutcomeRow>) {
  const statistics = yield* Statistics
  const now = firstDay + 60 * dayMillis
  const { all } = yield* statistics.windows(now)
  assert.deepStrictEqual(nonzero(all.counts), nonzero(compute(records, outcomes)))
  assert.deepStrictEqual(sorted(all.durations), sorted(slotsOf(records)))
  const dayOf = (at: number | undefined) => Math.floor((at ?? 0) / dayMillis) * dayMillis
  for (const day of yield* statistics.timeline("day", firstDay, now)) {
    const ended = records.filter((run) => dayOf(run.finishedAt) === day.startAt)
    const found = outcomes.filter((row) => dayOf(row.found_at) === day.startAt)
    assert.deepStrictEqual(nonzero(day.counts), nonzero(compute(ended, found)))
    assert.deepStrictEqual(sorted(day.durations), sorted(slotsOf(ended)))
  }
  const key = (workspace: string, trigger: string, repo: string) => `${workspace} ${trigger} ${repo.toLowerCase()}`
  const byProject = groupBy(records, (run) => key(run.workspace, hostTrigger(run.change), run.change.repo.fullName))
  const withoutFindings = (counts: object) =>
    Object.fromEntries(Object.entries(nonzero(counts)).filter(([name]) => !name.startsWith("findings")))
  const projects = yield* statistics.projects({ limit: maxSubjects })
  assert.deepStrictEqual(
    sorted(
      new Map(
        projects.map(({ counts, project }) => [
          key(project.workspace, project.trigger, project.repository),
          withoutFindings(counts)
        ])
      )
    ),
    sorted(new Map([...byProject].map(([name, runs]) => [name, withoutFindings(compute(runs, []))])))
  )
  const fixed = projects.reduce((sum, { counts }) => sum + (counts.findings_fixed ?? 0), 0)
  assert.strictEqual(fixed, all.counts.findings_fixed ?? 0)
})

describe.each(databases)("statistics in $name", ({ layer, name }) => {
  it("equal the sums over all records", async () => {
    const runtime = ManagedRuntime.make(layer())
    const records = new Map<string, Run>()
    const outcomes = new Map<string, OutcomeRow>()
    const numRuns = name === "sqlite" ? 40 : 5
    // All sequences share the database, so that the sums grow over all of them.
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: numRuns > 20 ? 1 : 5, maxLength: 12 }), (sequence) =>
        runtime.runPromise(
          Effect.gen(function* () {
            for (const one of sequence) yield* apply(one, records, outcomes)
            yield* compare([...records.values()], [...outcomes.values()])
          })
        )
      ),
      { numRuns, endOnFailure: true }
    )
    assert.isAbove(records.size, 20)
    await runtime.dispose()
  })
})
