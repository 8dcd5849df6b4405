import { describe, expect, it } from "vitest"
import { differenceInterval, ratioInterval, wilson } from "../../eval/Intervals.ts"
import { compare, measure } from "../../eval/Metrics.ts"
import type { Tally } from "../../eval/Metrics.ts"

const tally = (name: string, more: Partial<Tally> = {}): Tally => ({
  name,
  met: 1,
  located: 1,
  onLine: 1,
  missed: 0,
  wrong: 0,
  inputTokens: 1000,
  outputTokens: 100,
  cachedTokens: 500,
  costUsd: 0.01,
  seconds: 2,
  ...more
})
const many = (count: number, of: (index: number) => Partial<Tally> = () => ({})) =>
  Array.from({ length: count }, (_, index) => tally(`c${index}`, of(index)))

describe("intervals", () => {
  it.each([
    [0, 10, 0, 0.2775],
    [10, 10, 0.7225, 1],
    [5, 10, 0.2366, 0.7634],
    [81, 100, 0.7222, 0.8749]
  ])("of Wilson: %i of %i", (part, whole, low, high) => {
    const interval = wilson(part, whole)
    expect(interval?.low).toBeCloseTo(low, 3)
    expect(interval?.high).toBeCloseTo(high, 3)
  })

  it("are undefined without observations, and equal for equal samples", () => {
    expect([wilson(0, 0), ratioInterval([]), ratioInterval([{ top: 1, bottom: 0 }])]).toEqual([
      undefined,
      undefined,
      undefined
    ])
    const sample = many(30, (index) => ({ seconds: index })).map(({ seconds }) => ({ top: seconds, bottom: 1 }))
    expect(ratioInterval(sample)).toEqual(ratioInterval(sample))
    const { low = 0, high = 0 } = ratioInterval(sample) ?? {}
    expect(low).toBeGreaterThan(9)
    expect(low).toBeLessThan(14.5)
    expect(high).toBeGreaterThan(14.5)
    expect(high).toBeLessThan(20)
  })

  it("of differences pair the items: a constant difference is certain", () => {
    const before = many(20, (index) => ({ seconds: index })).map(({ seconds }) => ({ top: seconds, bottom: 1 }))
    const after = before.map(({ top }) => ({ top: top + 3, bottom: 1 }))
    const { low = 0, high = 0 } = differenceInterval(before, after) ?? {}
    expect([low, high]).toEqual([expect.closeTo(3), expect.closeTo(3)])
  })
})

describe("figures", () => {
  it("are sums over all changes, with Wilson's interval for shares of findings", () => {
    const figures = measure([...many(3), tally("d", { met: 0, located: 0, onLine: 0, missed: 1, wrong: 1 })])
    expect(figures.map(({ metric, value }) => [metric, value])).toEqual([
      ["precision", 0.75],
      ["recall", 0.75],
      ["line_accuracy", 1],
      ["tokens_in", 1000],
      ["tokens_out", 100],
      ["cached_share", 0.5],
      ["cost_usd", expect.closeTo(0.01)],
      ["seconds", 2]
    ])
    expect(figures[0]?.interval).toEqual(wilson(3, 4))
    expect(figures[3]?.interval).toEqual({ low: 1000, high: 1000 })
  })

  it("have no cost where one change has none, and no shares of nothing", () => {
    const figures = measure([tally("a"), tally("b", { costUsd: undefined })])
    expect(figures.find(({ metric }) => metric === "cost_usd")).toMatchObject({ value: undefined, interval: undefined })
    expect(measure([]).every(({ value }) => value === undefined)).toBe(true)
  })
})

describe("a comparison", () => {
  const verdicts = (before: ReadonlyArray<Tally>, after: ReadonlyArray<Tally>) =>
    Object.fromEntries(compare(before, after).differences.map(({ metric, verdict }) => [metric, verdict]))

  it("finds what is better and worse beyond chance, by the direction of the figure", () => {
    const after = many(60, (index) => ({
      ...(index % 3 === 0 ? { met: 0, located: 0, onLine: 0, missed: 1 } : {}),
      inputTokens: 500,
      seconds: 3
    }))
    expect(verdicts(many(60), after)).toEqual({
      precision: "same",
      recall: "worse",
      line_accuracy: "same",
      tokens_in: "better",
      tokens_out: "same",
      cached_share: "better",
      cost_usd: "same",
      seconds: "worse"
    })
  })

  it("takes a difference of one change in fifty for chance", () => {
    const after = many(50, (index) => (index === 7 ? { met: 0, located: 0, onLine: 0, missed: 1 } : {}))
    expect(verdicts(many(50), after)).toMatchObject({ recall: "same" })
  })

  it("is about the changes that both have", () => {
    const { changes, differences } = compare([tally("a"), tally("gone", { seconds: 90 })], [tally("b"), tally("a")])
    expect(changes).toBe(1)
    expect(differences.find(({ metric }) => metric === "seconds")).toMatchObject({ before: 2, after: 2 })
  })
})
