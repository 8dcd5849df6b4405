/** Statistics on real databases: written with the end of a run, once, and kept when its record is removed. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { findQuantile } from "../../src/domain/DurationHistogram.ts"
import { OperationId, ReservationId } from "../../src/domain/Keys.ts"
import { Usd } from "../../src/domain/Money.ts"
import type { RunCounts } from "../../src/domain/RunCounts.ts"
import { dayMillis, hourMillis } from "../../src/domain/StatisticsPeriods.ts"
import { Ledger } from "../../src/store/Ledger.ts"
import { firstIdAt } from "../../src/domain/Ids.ts"
import { Outcomes } from "../../src/store/Outcomes.ts"
import { Runs } from "../../src/store/Runs.ts"
import { maxSubjects, Statistics } from "../../src/store/Statistics.ts"
import { databases } from "./Databases.ts"
import { beginRun, publishRun, sendAll, settle, token } from "./EndedRuns.ts"
import { analysis } from "./Fixtures.ts"

/** A Wednesday. */
const now = Date.UTC(2026, 2, 4, 12, 34)
const nonzero = (counts: RunCounts | undefined) =>
  Object.fromEntries(Object.entries(counts ?? {}).filter(([, count]) => count !== 0))
const everything = { limit: maxSubjects }
const read = Effect.fnUntraced(function* (since?: number) {
  const statistics = yield* Statistics
  const { all, month, today, week } = yield* statistics.windows(now)
  return {
    all: nonzero(all.counts),
    today: nonzero(today.counts),
    week: nonzero(week.counts),
    month: nonzero(month.counts),
    p95: findQuantile(all.durations, 0.95),
    projects: new Map(
      (yield* statistics.projects({
        ...everything,
        since
      })).map(({ counts, project }) => [
        `${project.workspace} ${project.trigger} ${project.repository}`,
        nonzero(counts)
      ])
    ),
    models: new Map(
      (yield* statistics.models({
        ...everything,
        since
      })).map(({ counts, model }) => [model, nonzero(counts)])
    ),
    days: (yield* statistics.timeline("day", undefined, now)).length
  }
})

const published = {
  runs_succeeded: 1,
  problems_high: 1,
  files: 1,
  lines: 12,
  requests: 1,
  input_tokens: 10,
  output_tokens: 5,
  runs_unpriced: 1,
  duration_ms: 60_000,
  duration_runs: 1,
  findings: 1
}

describe.each(databases)("statistics in $name", ({ layer: fresh }) => {
  layer(fresh())("a published run", (it) => {
    it.effect("counts for the instance, its project and its models, once", () =>
      Effect.gen(function* () {
        const operation = { _tag: "Issue", title: "t", files: [] } as const
        const id = yield* publishRun({
          startedAt: now - 60_000,
          publications: [
            { operation: { ...operation, action: "create" } },
            { operation: { ...operation, action: "edit", number: 3 } }
          ]
        })
        assert.deepStrictEqual((yield* read()).all, {})
        yield* sendAll(id)
        assert.isTrue(yield* settle(id, now))
        assert.isFalse(yield* settle(id, now))
        assert.isFalse(yield* Runs.use((runs) => runs.move(id, token, "failed", now)))
        const expected = { ...published, issues_created: 1 }
        const found = yield* read()
        assert.deepStrictEqual(
          [found.all, found.today, found.week, found.month],
          [expected, expected, expected, expected]
        )
        assert.deepStrictEqual(found.projects, new Map([["app main Acme/App", expected]]))
        assert.deepStrictEqual(found.models, new Map([["demo/rules", expected]]))
        assert.closeTo(found.p95 ?? 0, 60_000, 2700)
      })
    )

    it.effect("is in the bucket of the hour and day of its end, and an empty bucket is shown too", () =>
      Effect.gen(function* () {
        const { timeline } = yield* Statistics
        const hours = yield* timeline("hour", now - hourMillis, now)
        assert.deepStrictEqual(
          hours.map(({ counts, startAt }) => [startAt, counts.runs_succeeded]),
          [
            [Date.UTC(2026, 2, 4, 11), undefined],
            [Date.UTC(2026, 2, 4, 12), 1]
          ]
        )
        const days = yield* timeline("day", now - dayMillis, now)
        assert.deepStrictEqual(
          days.map(({ counts, startAt }) => [startAt, counts.runs_succeeded]),
          [
            [Date.UTC(2026, 2, 3), undefined],
            [Date.UTC(2026, 2, 4), 1]
          ]
        )
      })
    )
  })

  layer(fresh())("teams", (it) => {
    it.effect("keep what happened while the workspace was theirs, with the period before", () =>
      Effect.gen(function* () {
        const statistics = yield* Statistics
        const yesterday = now - dayMillis
        const head = "a".repeat(40)
        const review = { operationId: OperationId.make("r"), event: "COMMENT", body: "", comments: [] } as const
        // A summary is the first comment that people read, alone and with the comments of its review.
        const written = [
          { operation: { _tag: "CommitComment", head, body: "b" } },
          { operation: { _tag: "Summary", head, body: "b", review } }
        ] as const
        const publish = Effect.fnUntraced(function* (number: number, team: string, at: number, waited: number) {
          // The time of an entry's id is that of its admission; `sendAll` sends at 4.
          const entryId = firstIdAt(Math.max(0, 4 - waited))
          const id = yield* publishRun({
            number,
            team,
            entryId: `${entryId.slice(0, -2)}${10 + number}`,
            startedAt: at - 1,
            publications: written.slice(number % written.length).slice(0, 1)
          })
          yield* sendAll(id)
          yield* settle(id, at)
          return id
        })
        const first = yield* publish(1, "payments", yesterday, 3)
        yield* publish(2, "payments", now, 0)
        yield* publish(3, "search", now, 9)
        const runs = yield* Runs
        const ruled = yield* runs.get(first)
        assert.strictEqual(ruled?.team, "payments")
        const teams = Effect.map(statistics.periods({ by: "team", since: now, until: now + 1 }), (all) =>
          all.map(({ before, counts, firstComments, name }) => [
            name,
            counts.runs_succeeded ?? 0,
            before?.counts.runs_succeeded ?? 0,
            [...firstComments.values()].length
          ])
        )
        assert.deepStrictEqual(yield* teams, [
          ["payments", 1, 1, 1],
          ["search", 1, 0, 1]
        ])
        const [all] = yield* statistics.periods({ by: "instance", since: undefined, until: now })
        assert.deepInclude(all, { name: "", before: undefined })
        assert.strictEqual(all?.counts.runs_succeeded, 3)
        const [workspace] = yield* statistics.periods({ by: "workspace", since: yesterday, until: now + 1 })
        assert.deepInclude(workspace, { name: "app" })
        assert.strictEqual(workspace?.counts.runs_succeeded, 3)
        // The repository counts for the team of its newest run.
        const ofTeam = (team: string) =>
          Effect.map(statistics.projects({ ...everything, team }), ({ length }) => length)
        assert.deepStrictEqual([yield* ofTeam("search"), yield* ofTeam("payments")], [1, 0])
        const days = yield* statistics.timeline("day", yesterday, now, "payments")
        assert.deepStrictEqual(
          days.map(({ counts }) => counts.runs_succeeded),
          [1, 1]
        )
        const outcomes = yield* Outcomes
        const period = { by: "team", since: yesterday, until: now + 1 } as const
        assert.deepStrictEqual(
          (yield* outcomes.groups(period)).map(({ found, name }) => [name, found]),
          [
            ["payments", 2],
            ["search", 1]
          ]
        )
        const ofSearch = yield* outcomes.groups({ ...period, by: "severity", team: "search" })
        assert.deepStrictEqual(
          ofSearch.map(({ found, name }) => [name, found]),
          [["high", 1]]
        )
      })
    )
  })

  layer(fresh())("windows", (it) => {
    it.effect("contain the runs that ended in them", () =>
      Effect.gen(function* () {
        const ends = [now, Date.UTC(2026, 2, 3), Date.UTC(2026, 2, 1, 23), Date.UTC(2026, 1, 28), Date.UTC(2020, 0)]
        for (const [number, at] of ends.entries()) yield* settle(yield* publishRun({ number, startedAt: at - 1 }), at)
        const { all, month, today, week } = yield* read()
        assert.deepStrictEqual(
          [all, today, week, month].map((counts) => counts["runs_succeeded"]),
          [5, 1, 2, 3]
        )
        const since = yield* read(Date.UTC(2026, 2, 1, 12))
        assert.strictEqual(since.projects.get("app main Acme/App")?.["runs_succeeded"], 3)
        assert.strictEqual(since.models.get("demo/rules")?.["runs_succeeded"], 3)
        const later = yield* read(now + dayMillis)
        assert.deepStrictEqual([later.projects.size, later.models.size], [0, 0])
      })
    )
  })

  layer(fresh())("runs without a review", (it) => {
    it.effect("count with their state, and with their cost where a model may have been called", () =>
      Effect.gen(function* () {
        const runs = yield* Runs
        const reserved = yield* beginRun({ number: 1, startedAt: now })
        const money = { repository: "r", day: "d", owner: "o", runCapUsd: undefined, dayCapUsd: undefined }
        const id = ReservationId.make("r1")
        yield* Ledger.use((ledger) => ledger.reserve({ id, runId: reserved, usd: Usd.make(0.5), ...money }, now))
        yield* runs.move(reserved, token, "analyzing", now)
        yield* runs.move(reserved, token, "timeout", now + 2000)
        const unpriced = yield* beginRun({ number: 2, startedAt: now })
        yield* runs.move(unpriced, token, "analyzing", now)
        yield* runs.move(unpriced, token, "cancelled", now)
        yield* runs.move(yield* beginRun({ number: 3, startedAt: now }), token, "failed", now)
        yield* runs.move(yield* beginRun({ number: 4, startedAt: now }), token, "skipped", now)
        assert.deepStrictEqual((yield* read()).all, {
          runs_timeout: 1,
          runs_cancelled: 1,
          runs_failed: 1,
          runs_skipped: 1,
          cost_nanos: 500_000_000,
          runs_priced: 1,
          runs_unpriced: 1,
          duration_ms: 2e3,
          duration_runs: 2
        })
      })
    )

    it.effect("and the run does not end, while its statistics cannot be written", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const runs = yield* Runs
        const before = (yield* read()).all
        const id = yield* beginRun({ number: 5, startedAt: now })
        yield* sql`ALTER TABLE rollup_durations RENAME TO elsewhere`
        assert.strictEqual((yield* Effect.flip(runs.move(id, token, "failed", now)))._tag, "StoreError")
        yield* sql`ALTER TABLE elsewhere RENAME TO rollup_durations`
        assert.strictEqual((yield* runs.get(id))?.status, "preparing")
        assert.deepStrictEqual((yield* read()).all, before)
        assert.isTrue(yield* runs.move(id, token, "failed", now))
        assert.strictEqual((yield* read()).all["runs_failed"], 2)
      })
    )
  })

  layer(fresh())("outcomes", (it) => {
    it.effect("change the day on which the finding was found, whenever they are decided", () =>
      Effect.gen(function* () {
        const first = now - 2 * dayMillis
        yield* settle(yield* publishRun({ head: "a".repeat(40), startedAt: first }), first)
        const gone = { ...analysis, findings: [] }
        yield* settle(yield* publishRun({ head: "b".repeat(40), startedAt: now, analysis: gone }), now)
        const { all, projects, models, today } = yield* read()
        for (const counts of [all, projects.get("app main Acme/App"), models.get("demo/rules")]) {
          assert.deepInclude(counts, { findings: 1, findings_fixed: 1 })
        }
        assert.notProperty(today, "findings_fixed")
        yield* settle(yield* publishRun({ head: "c".repeat(40), startedAt: now }), now)
        const again = yield* read()
        assert.notProperty(again.all, "findings_fixed")
        assert.strictEqual(again.all["findings"], 1)
      })
    )
  })

  layer(fresh())("retention", (it) => {
    it.effect("removes runs and outcomes, and no statistics but those per hour", () =>
      Effect.gen(function* () {
        const statistics = yield* Statistics
        const old = now - 60 * dayMillis
        yield* settle(yield* publishRun({ number: 1, startedAt: old }), old)
        yield* settle(yield* publishRun({ number: 2, startedAt: now }), now)
        const before = yield* read()
        assert.strictEqual(yield* Runs.use((runs) => runs.prune({ maxCount: 0, before: now + 1 })), 2)
        yield* statistics.prune(0, now)
        assert.deepStrictEqual(yield* read(), before)
        const sql = yield* SqlClient.SqlClient
        const hours = yield* sql<{ start_at: number }>`SELECT start_at FROM rollups WHERE grain = 'hour'`
        assert.deepStrictEqual(
          hours.map(({ start_at }) => start_at),
          [Date.UTC(2026, 2, 4, 12)]
        )
        assert.strictEqual((yield* sql`SELECT 1 FROM rollup_durations WHERE grain = 'hour'`).length, 1)
      })
    )

    it.effect("removes a project after its grace period, and keeps the sums of the instance", () =>
      Effect.gen(function* () {
        const statistics = yield* Statistics
        yield* settle(yield* publishRun({ workspace: "old", number: 3, startedAt: now }), now)
        const isConfigured = ({ workspace }: { readonly workspace: string }) => workspace !== "old"
        const list = statistics.projects(everything)
        const deleted = Effect.map(
          list,
          (all) => all.find(({ project }) => project.workspace === "old")?.project.deletedAt
        )
        yield* statistics.markProjects(isConfigured, 100)
        yield* statistics.markProjects(isConfigured, 200)
        assert.strictEqual(yield* deleted, 100)
        yield* statistics.markProjects(() => true, 250)
        assert.isUndefined(yield* deleted)
        yield* statistics.markProjects(isConfigured, 300)
        assert.strictEqual(yield* statistics.prune(299, now), 0)
        const { all, models } = yield* read()
        assert.strictEqual(yield* statistics.prune(300, now), 1)
        const after = yield* read()
        assert.deepStrictEqual([...after.projects.keys()], ["app main Acme/App"])
        assert.deepStrictEqual([after.all, after.models], [all, models])
        const sql = yield* SqlClient.SqlClient
        for (const table of ["rollups", "rollup_durations"]) {
          const left = yield* sql<{
            subject: string
          }>`SELECT DISTINCT subject FROM ${sql(table)} WHERE scope = 'project'`
          assert.strictEqual(left.length, 1)
        }
        // A finding of a removed project counts for the instance only.
        const gone = { ...analysis, findings: [] }
        const later = { workspace: "old", number: 3, head: "b".repeat(40), startedAt: now, analysis: gone }
        yield* settle(yield* publishRun(later), now)
        const fixed = yield* read()
        assert.strictEqual(fixed.all["findings_fixed"], 1)
        assert.notProperty(fixed.projects.get("old main Acme/App"), "findings_fixed")
        const orphans = yield* sql`
          SELECT 1 FROM rollups WHERE scope = 'project' AND subject NOT IN (SELECT id FROM projects)`
        assert.isEmpty(orphans)
      })
    )
  })
})
