import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { targetKey } from "../../../src/domain/Change.ts"
import { parseIdTime } from "../../../src/domain/Ids.ts"
import { Usd } from "../../../src/domain/Money.ts"
import { listedValue, Runs } from "../../../src/store/Runs.ts"
import type { RunFilter, ValueOrder } from "../../../src/store/Runs.ts"
import { databases } from "../Databases.ts"
import { beginRun, publishRun, settle } from "../EndedRuns.ts"
import { analysis, change } from "../Fixtures.ts"

const select = (filter: Partial<RunFilter>) =>
  Effect.map(
    Runs.use((runs) => runs.list({ limit: 100, ...filter })),
    (found) => found.map(({ id }) => id)
  )

const timeOf = (id: string): number => parseIdTime(id) ?? 0

describe.each(databases)("runs in $name", ({ layer }) => {
  it.effect("are selected by repository, number, trigger, states and time", () =>
    Effect.gen(function* () {
      const first = yield* publishRun({ repo: "Acme/App", number: 1 })
      yield* settle(first, 5)
      const second = yield* beginRun({ repo: "acme/other", number: 1 })
      const third = yield* beginRun({ repo: "acme/app", number: 2 })
      assert.deepStrictEqual(yield* select({ repo: "/ACME/app/" }), [third, first])
      assert.deepStrictEqual(yield* select({ number: 1 }), [second, first])
      assert.deepStrictEqual(yield* select({ repo: "acme/app", number: 1 }), [first])
      assert.deepStrictEqual(yield* select({ trigger: "main" }), [third, second, first])
      assert.deepStrictEqual(yield* select({ trigger: "mai" }), [])
      assert.deepStrictEqual(yield* select({ statuses: ["succeeded", "failed"] }), [first])
      assert.deepStrictEqual(yield* select({ statuses: ["succeeded", "preparing"] }), [third, second, first])
      assert.deepStrictEqual(yield* select({ since: timeOf(first) }), [third, second, first])
      assert.deepStrictEqual(yield* select({ since: timeOf(third) + 1 }), [])
      assert.deepStrictEqual(yield* select({ until: timeOf(third) + 1 }), [third, second, first])
      assert.deepStrictEqual(yield* select({ until: timeOf(first) }), [])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("the newest run of each change is listed once", () =>
    Effect.gen(function* () {
      const old = yield* publishRun({ number: 1 })
      yield* settle(old, 5)
      const other = yield* beginRun({ number: 2 })
      const newest = yield* beginRun({ number: 1, head: "b".repeat(40) })
      const list = (filter: Partial<RunFilter>) =>
        Effect.map(
          Runs.use((runs) => runs.newest({ limit: 100, ...filter })),
          (found) => found.map(({ id }) => id)
        )
      assert.deepStrictEqual(yield* list({}), [newest, other])
      assert.deepStrictEqual(yield* list({ limit: 1 }), [newest])
      assert.deepStrictEqual(yield* list({ before: newest }), [other])
      assert.deepStrictEqual(yield* list({ targetKey: targetKey(change(1)) }), [newest])
      // A change whose newest run has another state is not selected by an older one.
      assert.deepStrictEqual(yield* list({ statuses: ["succeeded"] }), [])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("the mark of the newest run moves to the one before it when it is removed", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const old = yield* publishRun({ number: 1 })
      yield* settle(old, 5)
      const newest = yield* beginRun({ number: 1, head: "b".repeat(40) })
      const marked = sql<{ id: string }>`SELECT id FROM runs WHERE newest = 1`.pipe(
        Effect.map((rows) => rows.map(({ id }) => id))
      )
      assert.deepStrictEqual(yield* marked, [newest])
      yield* sql`DELETE FROM runs WHERE id = ${newest}`
      assert.deepStrictEqual(yield* marked, [old])
      // A node whose clock is late inserts a run that is not the newest.
      yield* sql`INSERT INTO runs (id, entry_id, token, workspace, target_key, change, head, status, partial, config_hash, created_at)
        SELECT '0', 'late', 1, workspace, target_key, change, head, status, partial, config_hash, 1 FROM runs`
      assert.deepStrictEqual(yield* marked, [old])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("are listed from the oldest, and by duration and cost in both directions, page by page", () =>
    Effect.gen(function* () {
      const priced = (costUsd: number) => ({ ...analysis, usage: { ...analysis.usage, costUsd: Usd.make(costUsd) } })
      const ended = Effect.fnUntraced(function* (workspace: string, seconds: number, cost: number) {
        const id = yield* publishRun({ workspace, number: seconds, startedAt: 1000, analysis: priced(cost) })
        yield* settle(id, 1000 + seconds * 1000)
        return id
      })
      const long = yield* ended("app", 50, 0.1)
      const short = yield* ended("app", 5, 0.3)
      const same = yield* ended("other", 50, 0.2)
      const running = yield* beginRun({ number: 9 })
      assert.deepStrictEqual(yield* select({ oldestFirst: true }), [long, short, same, running])
      assert.deepStrictEqual(yield* select({ oldestFirst: true, after: short, limit: 1 }), [same])
      assert.deepStrictEqual(yield* select({ oldestFirst: true, statuses: ["succeeded", "preparing"] }), [
        long,
        short,
        same,
        running
      ])
      const by = (order: ValueOrder, filter: Partial<RunFilter> = {}) => select({ order, ...filter })
      assert.deepStrictEqual(yield* by({ by: "duration", smallestFirst: false }), [same, long, short, running])
      assert.deepStrictEqual(yield* by({ by: "duration", smallestFirst: true }), [running, short, long, same])
      assert.deepStrictEqual(yield* by({ by: "cost", smallestFirst: false }), [short, same, long, running])
      assert.deepStrictEqual(yield* by({ by: "cost", smallestFirst: true }, { workspace: "app" }), [
        running,
        long,
        short
      ])
      const run = yield* Runs.use((runs) => runs.get(same))
      assert(run !== undefined)
      const from = { value: listedValue(run, "duration"), id: run.id }
      assert.deepStrictEqual(yield* by({ by: "duration", smallestFirst: false, from }), [long, short, running])
      const cost = { value: listedValue(run, "cost"), id: run.id }
      assert.deepStrictEqual(yield* by({ by: "cost", smallestFirst: false, from: cost }), [long, running])
    }).pipe(Effect.provide(layer()))
  )
})
