/** Reviews that read the files which a later one did not read again. */
import { describe, expect, it } from "vitest"
import { noUsage } from "../../src/domain/Analysis.ts"
import type { Analysis } from "../../src/domain/Analysis.ts"
import { carriedReaders, joinAnalyses, namedReaders } from "../../src/domain/CarriedReview.ts"
import { finding } from "../outputs/Fixtures.ts"

const analysis = (model: string, ...patches: ReadonlyArray<readonly [path: string, id: string]>): Analysis => ({
  findings: [],
  summary: "",
  coverage: { reviewed: [], skipped: [], lines: 1 },
  models: [model],
  usage: noUsage,
  notices: [],
  patches: patches.map(([path, id]) => ({ path, id }))
})
const named = (run: string, of: Analysis, statement?: string): Analysis =>
  namedReaders({ run, head: `head of ${run}`, configuration: `c of ${run}`, statement, analysis: of })
const reader = (run: string, model: string, files: number, statement?: string) => ({
  run,
  head: `head of ${run}`,
  configuration: `c of ${run}`,
  models: [model],
  ...(statement === undefined ? {} : { statement }),
  files
})

describe("carriedReaders", () => {
  it("names the review that read each file, also over several rounds", () => {
    const first = named("1", analysis("p/a", ["a", "1"], ["b", "1"], ["c", "1"]), "d1")
    const second = analysis("p/b", ["a", "2"], ["b", "1"], ["c", "1"])
    const carried = carriedReaders(second, first, ["b", "c"])
    expect(carried.carried).toEqual([reader("1", "p/a", 2, "d1")])
    const third = carriedReaders(second, named("2", { ...second, ...carried }, "d2"), ["a", "c"])
    expect(third.carried).toEqual([reader("1", "p/a", 1, "d1"), reader("2", "p/b", 1, "d2")])
    expect(third.patches?.map(({ carried: by }) => by)).toEqual([1, undefined, 0])
  })

  it("names none for a review that read all", () => {
    const first = named("1", analysis("p/a", ["a", "1"]))
    expect(carriedReaders(analysis("p/a", ["a", "2"]), first, [])).toEqual({})
    expect(carriedReaders(analysis("p/a", ["a", "2"]), undefined, ["a"])).toEqual({})
  })
})

describe("joinAnalyses", () => {
  const one = named("1", { ...analysis("p/a", ["a", "1"], ["both", "1"], ["same", "1"]), findings: [finding(1)] })
  const other = named("2", { ...analysis("p/b", ["b", "1"], ["both", "2"], ["same", "1"]), restricted: true })

  it("keeps the patches that one of the changes has, each with its reader, and findings of all", () => {
    const joined = joinAnalyses([one, other])
    expect(joined?.patches).toEqual([
      { path: "a", id: "1", carried: 0 },
      { path: "same", id: "1", carried: 0 },
      { path: "b", id: "1", carried: 1 }
    ])
    expect(joined?.findings).toHaveLength(1)
    expect(joined?.restricted).toBe(true)
    expect(carriedReaders(analysis("p/a", ["a", "1"], ["b", "1"]), joined, ["a", "b"]).carried).toEqual([
      reader("1", "p/a", 1),
      reader("2", "p/b", 1)
    ])
  })

  it("changes nothing about one, and has none of none", () => {
    expect(joinAnalyses([one])).toBe(one)
    expect(joinAnalyses([])).toBeUndefined()
  })
})
