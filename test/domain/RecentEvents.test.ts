import { assert, it } from "@effect/vitest"
import { makeRecentEvents } from "../../src/domain/RecentEvents.ts"

it("an event is new once within the time, and again after it", () => {
  const recent = makeRecentEvents(10)
  assert.deepStrictEqual(
    [0, 5, 9, 10, 19, 20].map((now) => recent.isNew("a", now)),
    [true, false, false, true, false, true]
  )
})

it("the oldest event is forgotten beyond the maximum", () => {
  const recent = makeRecentEvents(10, 2)
  for (const event of ["a", "b", "c"]) recent.isNew(event, 0)
  assert.deepStrictEqual([recent.isNew("c", 1), recent.isNew("b", 1), recent.isNew("a", 1)], [false, false, true])
})
