import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { targetKey } from "../../src/domain/Change.ts"
import { parseIdTime } from "../../src/domain/Ids.ts"
import { Runs } from "../../src/store/Runs.ts"
import type { RunFilter } from "../../src/store/Runs.ts"
import addRunFacts from "../../src/store/migrations/0022_run_facts.ts"
import { databases } from "./Databases.ts"
import { beginRun, publishRun, settle } from "./EndedRuns.ts"
import { change } from "./Fixtures.ts"

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

  it.effect("runs of earlier versions are found by their facts", () =>
    Effect.gen(function* () {
      const id = yield* beginRun({ repo: "/Acme/App/", number: 3 })
      const sql = yield* SqlClient.SqlClient
      yield* sql`DROP INDEX runs_repo`
      for (const index of ["runs_newest", "runs_trigger", "runs_number"]) yield* sql`DROP INDEX ${sql(index)}`
      for (const column of ["repo", "number", "trigger_name"]) yield* sql`ALTER TABLE runs DROP COLUMN ${sql(column)}`
      yield* addRunFacts
      assert.deepStrictEqual(yield* select({ repo: "acme/app", number: 3, trigger: "main" }), [id])
    }).pipe(Effect.provide(layer()))
  )
})
