import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { RejectedSignatures } from "../../src/store/RejectedSignatures.ts"
import type { RejectedSignature } from "../../src/store/RejectedSignatures.ts"
import { databases } from "./Databases.ts"

const hour = 3_600_000

const item = (trigger: string, at: number, counts: Partial<RejectedSignature["counts"]>): RejectedSignature => ({
  hour: at - (at % hour),
  trigger,
  provider: "github",
  counts: { loopback: 0, private: 0, public: 0, ...counts },
  lastAt: at
})

describe.each(databases)("rejected signatures in $name", ({ layer }) => {
  it.effect("counts of nodes add up per trigger and hour, newest hour first", () =>
    Effect.gen(function* () {
      const { add, list } = yield* RejectedSignatures
      yield* Effect.forEach(
        Array.from({ length: 10 }, (_, at) => at),
        (at) => add([item("a", hour + at, { public: 2 }), item("b", hour + at, { loopback: 1, private: 3 })]),
        { concurrency: "unbounded" }
      )
      yield* add([item("a", 2 * hour + 5, { public: 1 })])
      yield* add([])
      assert.deepStrictEqual(yield* list({ since: 0, limit: 10 }), [
        item("a", 2 * hour + 5, { public: 1 }),
        item("a", hour + 9, { public: 20 }),
        item("b", hour + 9, { loopback: 10, private: 30 })
      ])
      assert.lengthOf(yield* list({ since: 2 * hour + 30, limit: 10 }), 1)
      assert.lengthOf(yield* list({ since: 2 * hour - 1, limit: 10 }), 3)
      assert.lengthOf(yield* list({ since: 0, limit: 2 }), 2)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("hours before the retention are removed", () =>
    Effect.gen(function* () {
      const { add, list, prune } = yield* RejectedSignatures
      for (let at = 1; at <= 3; at++) yield* add([item("a", at * hour, { public: 1 })])
      assert.strictEqual(yield* prune(2 * hour), 1)
      assert.lengthOf(yield* list({ since: 0, limit: 10 }), 2)
    }).pipe(Effect.provide(layer()))
  )
})
