import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Schedules } from "../../src/store/Schedules.ts"
import { databases } from "./Databases.ts"

describe.each(databases)("Schedules in $name", ({ layer }) => {
  it.effect("start with their next time, and never go back", () =>
    Effect.gen(function* () {
      const schedules = yield* Schedules
      const first = yield* Effect.all([schedules.lastFire("nightly", 50), schedules.lastFire("nightly", 60)], {
        concurrency: 2
      })
      assert.deepStrictEqual(first, [50, 50])
      yield* schedules.fired("nightly", 100)
      yield* schedules.fired("nightly", 70)
      yield* schedules.fired("new", 5)
      assert.strictEqual(yield* schedules.lastFire("nightly", 900), 100)
      assert.strictEqual(yield* schedules.lastFire("new", 900), 5)
    }).pipe(Effect.provide(layer()))
  )
})
