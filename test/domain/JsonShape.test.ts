/** Limits of JSON that is not parsed yet. */
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { measureJson } from "../../src/domain/JsonShape.ts"

describe("the shape of JSON", () => {
  it.each([
    ["[[]]", 2, 3],
    ["[[[]]]", 2, undefined],
    ['{"a":"[[[[,,"}', 1, 2],
    ['{"a\\"[[":1}', 1, 2],
    ["[[],[],[]]", 2, 7],
    ["1", 0, 1],
    ["", 0, 1]
  ])("%s, at most %d deep, has %s values", (text, depth, values) => {
    expect(measureJson(text, { depth, values: 100 })).toBe(values)
  })

  it("has at most the allowed number of values", () => {
    expect(measureJson("[1,2,3]", { depth: 1, values: 4 })).toBe(4)
    expect(measureJson("[1,2,3,4]", { depth: 1, values: 4 })).toBeUndefined()
  })

  it("counts no fewer values than the parsed value has", () => {
    const countOf = (value: unknown): number =>
      typeof value === "object" && value !== null
        ? 1 + Object.values(value).reduce<number>((sum, one) => sum + countOf(one), 0)
        : 0
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const measured = measureJson(JSON.stringify(value), { depth: 1000, values: 1_000_000 }) ?? 0
        expect(measured).toBeGreaterThanOrEqual(countOf(value))
      })
    )
  })
})
