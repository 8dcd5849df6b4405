import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { newId, parseIdTime } from "../../src/domain/Ids.ts"
import { AdminActions, maxAdminActions, surplusActions } from "../../src/store/AdminActions.ts"
import type { AdminAction } from "../../src/store/AdminActions.ts"
import { databases } from "./Databases.ts"

const action = (over: Partial<AdminAction> = {}): AdminAction => ({
  id: newId(),
  at: 1000,
  actor: "root",
  address: "127.0.0.1",
  action: "queue.cancel",
  target: "/queue/x/cancel",
  reason: undefined,
  outcome: "unknown",
  ...over
})

describe.each(databases)("actions of administrators in $name", ({ layer }) => {
  it.effect("are stored before their outcome, and selected by each fact", () =>
    Effect.gen(function* () {
      const { finish, list, start } = yield* AdminActions
      const first = action({ reason: "moving", at: 5 })
      const second = action({ actor: "dana", action: "queue.retry" })
      yield* start(first)
      yield* start(second)
      assert.deepStrictEqual(yield* list({ limit: 10 }), [second, first])
      assert.deepStrictEqual(yield* list({ oldestFirst: true, limit: 10 }), [first, second])
      yield* finish(first.id, "done")
      assert.deepStrictEqual(yield* list({ outcome: "done", limit: 10 }), [{ ...first, outcome: "done" }])
      const ids = (filter: object) => Effect.map(list({ limit: 10, ...filter }), (all) => all.map(({ id }) => id))
      assert.deepStrictEqual(yield* ids({ actor: "dana" }), [second.id])
      assert.deepStrictEqual(yield* ids({ action: "queue.cancel" }), [first.id])
      assert.deepStrictEqual(yield* ids({ before: second.id }), [first.id])
      assert.deepStrictEqual(yield* ids({ limit: 1 }), [second.id])
      assert.deepStrictEqual(yield* ids({ since: (parseIdTime(second.id) ?? 0) + 1 }), [])
      assert.deepStrictEqual(yield* ids({ since: parseIdTime(first.id) }), [second.id, first.id])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("stay limited in number while any number of requests adds to them", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { start } = yield* AdminActions
      yield* sql`INSERT INTO admin_actions (id, at, actor, address, action, target, outcome)
        WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${maxAdminActions})
        SELECT '0' || n, n, 'eve', '192.0.2.1', 'queue.pause', '/queue/pause', 'not_found' FROM numbers`
      const count = Effect.map(sql<{ n: number }>`SELECT count(*) AS n FROM admin_actions`, ([row]) => Number(row?.n))
      for (let n = 1; n < surplusActions; n++) yield* start(action())
      assert.strictEqual(yield* count, maxAdminActions + surplusActions - 1)
      yield* start(action())
      assert.strictEqual(yield* count, maxAdminActions)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("are removed by age and number", () =>
    Effect.gen(function* () {
      const { list, prune, start } = yield* AdminActions
      for (let at = 1; at <= 5; at++) yield* start(action({ at }))
      assert.strictEqual(yield* prune({ maxCount: 10, before: 3 }), 2)
      assert.strictEqual(yield* prune({ maxCount: 2, before: 0 }), 1)
      assert.deepStrictEqual(
        (yield* list({ limit: 10 })).map(({ at }) => at),
        [5, 4]
      )
    }).pipe(Effect.provide(layer()))
  )
})
