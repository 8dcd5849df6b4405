import { assert, it } from "@effect/vitest"
import * as fc from "fast-check"
import { findQuantile, findSlot, mergeHistograms } from "../../src/domain/DurationHistogram.ts"
import type { DurationHistogram } from "../../src/domain/DurationHistogram.ts"

const histogramOf = (durations: ReadonlyArray<number>): DurationHistogram =>
  durations
    .map((millis): DurationHistogram => new Map([[findSlot(millis), 1]]))
    .reduce(mergeHistograms, new Map<number, number>())
const entries = (histogram: DurationHistogram) => [...histogram].toSorted(([a], [b]) => a - b)
const durations = fc.array(fc.integer({ min: 0, max: 2 ** 31 - 1 }), { maxLength: 50 })

it("merging the parts gives the histogram of the whole, in any order", () => {
  fc.assert(
    fc.property(durations, durations, durations, (a, b, c) => {
      const whole = entries(histogramOf([...a, ...b, ...c]))
      const [x, y, z] = [histogramOf(a), histogramOf(b), histogramOf(c)]
      assert.deepStrictEqual(entries(mergeHistograms(mergeHistograms(x, y), z)), whole)
      assert.deepStrictEqual(entries(mergeHistograms(z, mergeHistograms(y, x))), whole)
    })
  )
})

it("a quantile is within 4.5 % and half a millisecond of the exact one", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 2 ** 31 - 1 }), { minLength: 1, maxLength: 50 }),
      fc.constantFrom(0.5, 0.95, 1),
      (given, q) => {
        const exact = given.toSorted((a, b) => a - b)[Math.ceil(q * given.length) - 1] ?? Number.NaN
        const found = findQuantile(histogramOf(given), q) ?? Number.NaN
        assert.isAtMost(Math.abs(found - exact), 0.5 + exact * 0.045)
      }
    )
  )
})

it("longer durations are in later slots, and no histogram has a quantile without durations", () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(), (a, b) =>
      assert.isTrue(a > b ? findSlot(a) >= findSlot(b) : findSlot(b) >= findSlot(a))
    )
  )
  assert.strictEqual(findSlot(Number.MAX_SAFE_INTEGER), findSlot(2 ** 31))
  assert.isUndefined(findQuantile(new Map(), 0.95))
})
