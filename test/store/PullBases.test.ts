/** Stored bases of pull requests: the newest delivery counts, per trigger, and rows that are old or beyond the limit are removed. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { PullBases } from "../../src/store/PullBases.ts"
import { databases } from "./Databases.ts"

const base = (number: number, baseRef: string, seenAt: number, triggers: ReadonlyArray<string> = ["t"]) => ({
  triggers,
  repo: "Team/App",
  number,
  baseRef,
  seenAt
})
const known = (number: number, triggers: ReadonlyArray<string> = ["t"]) =>
  PullBases.use((bases) =>
    Effect.map(bases.find({ triggers, repo: "team/app", number }), (found) => Object.fromEntries(found))
  )

describe.each(databases)("PullBases in $name", ({ layer: fresh }) => {
  layer(fresh())("store", (it) => {
    it.effect("replaces what an earlier delivery named, and nothing that a later one named", () =>
      Effect.gen(function* () {
        const bases = yield* PullBases
        yield* bases.store([base(1, "main", 10)])
        assert.deepStrictEqual(yield* known(1), { t: "main" })
        yield* bases.store([base(1, "next", 20)])
        yield* bases.store([base(1, "late", 15)])
        assert.deepStrictEqual(yield* known(1), { t: "next" })
        yield* bases.store([base(1, "third", 40), base(1, "second", 30), base(2, "main", 30)])
        assert.deepStrictEqual([yield* known(1), yield* known(2)], [{ t: "third" }, { t: "main" }])
        assert.deepStrictEqual(yield* known(3), {})
      })
    )

    it.effect("keeps apart what is known under different triggers", () =>
      Effect.gen(function* () {
        const bases = yield* PullBases
        yield* bases.store([base(7, "main", 10, ["a", "b"]), base(7, "next", 20, ["b", "c"])])
        assert.deepStrictEqual(yield* known(7, ["a", "b", "d"]), { a: "main", b: "next" })
        assert.deepStrictEqual(yield* known(7, []), {})
      })
    )

    it.effect("stores more rows than one statement takes", () =>
      Effect.gen(function* () {
        const bases = yield* PullBases
        yield* bases.store(Array.from({ length: 1201 }, (_, at) => base(1000 + at, `b${at}`, at)))
        assert.deepStrictEqual(yield* known(2200), { t: "b1200" })
        yield* bases.store([])
      })
    )
  })

  layer(fresh())("prune", (it) => {
    it.effect("removes what was named long ago, and the oldest beyond the number", () =>
      Effect.gen(function* () {
        const bases = yield* PullBases
        yield* bases.store([1, 2, 3, 4].map((number) => base(number, "main", number * 10)))
        assert.strictEqual(yield* bases.prune({ maxCount: 10, before: 15 }), 1)
        assert.strictEqual(yield* bases.prune({ maxCount: 2, before: 0 }), 1)
        const left = yield* Effect.forEach([1, 2, 3, 4], (number) => known(number))
        assert.deepStrictEqual(left, [{}, {}, { t: "main" }, { t: "main" }])
      })
    )
  })
})
