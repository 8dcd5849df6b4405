import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { CatchUps } from "../../src/store/CatchUps.ts"
import type { CatchUpSearch } from "../../src/store/CatchUps.ts"
import { databases } from "./Databases.ts"

const search = (changes: Partial<CatchUpSearch>): CatchUpSearch => ({
  occasion: "beat",
  startedAt: 100,
  at: 110,
  found: 0,
  skipped: 0,
  failure: undefined,
  ...changes
})

describe.each(databases)("CatchUps in $name", ({ layer }) => {
  it.effect("keep the earliest request until a search that began after it", () =>
    Effect.gen(function* () {
      const catchUps = yield* CatchUps
      yield* catchUps.request(["b", "a"], "refused", 90)
      yield* catchUps.request(["a"], "requested", 95)
      assert.deepStrictEqual(
        (yield* catchUps.list).map(({ requestedAt, requestedFor, trigger }) => [trigger, requestedFor, requestedAt]),
        [
          ["a", "refused", 90],
          ["b", "refused", 90]
        ]
      )
      yield* catchUps.searched("a", search({}))
      yield* catchUps.searched("b", search({ startedAt: 80 }))
      const [a, b] = yield* catchUps.list
      assert.deepStrictEqual([a?.requestedAt, a?.requestedFor, a?.searchedAt], [undefined, undefined, 110])
      assert.deepStrictEqual([b?.requestedAt, b?.requestedFor, b?.searchedAt], [90, "refused", 110])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("record what was found, with the search before it", () =>
    Effect.gen(function* () {
      const catchUps = yield* CatchUps
      yield* catchUps.searched("a", search({ at: 10 }))
      yield* catchUps.searched("a", search({ at: 20, found: 3, skipped: 2, failure: { _tag: "NoReasonRecorded" } }))
      yield* catchUps.searched("a", search({ at: 30, occasion: "start" }))
      assert.deepStrictEqual(yield* catchUps.list, [
        {
          trigger: "a",
          requestedAt: undefined,
          requestedFor: undefined,
          searchedAt: 30,
          occasion: "start",
          foundAt: 20,
          found: 3,
          foundSince: 10,
          foundFor: "beat",
          skipped: 0,
          failure: undefined
        }
      ])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("keep the first mark of a scope, never go back, and replace tips", () =>
    Effect.gen(function* () {
      const catchUps = yield* CatchUps
      yield* catchUps.mark({ trigger: "a", scope: "owner:team", mark: 50 })
      yield* catchUps.mark({ trigger: "a", scope: "owner:team", mark: 70, tips: { main: "1" } })
      yield* catchUps.mark({ trigger: "a", scope: "owner:team", mark: 60, tips: { main: "2" } })
      yield* catchUps.mark({ trigger: "a", scope: "owner:team", mark: 65 })
      yield* catchUps.mark({ trigger: "b", scope: "owner:team", mark: 1 })
      assert.deepStrictEqual(yield* catchUps.marks("a"), [
        { trigger: "a", scope: "owner:team", first: 50, mark: 70, tips: { main: "2" } }
      ])
    }).pipe(Effect.provide(layer()))
  )
})
