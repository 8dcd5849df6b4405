import { describe, expect, it } from "vitest"
import { alignLines } from "../../src/review/FirstReads.ts"

/** Each line is one character; those of `now` that count as changed are shown as a dot. */
const show = (before: string, now: string): string => {
  const found = alignLines([...before], [...now], () => true)
  return [...now].map((line, at) => ((found[at] ?? -1) < 0 ? "." : line)).join("")
}

describe("lines of a patch", () => {
  it.each([
    ["the same", "abcdef", "abcdef", "abcdef"],
    ["one that is added", "abcdef", "abcXdef", "abc.def"],
    ["one that is replaced", "abcdef", "abXdef", "ab.def"],
    ["one that is removed", "abcdef", "abdef", "abdef"],
    ["several places", "abcdefgh", "aXbcdYfghZ", "a.bcd.fgh."],
    ["nothing before", "", "abc", "..."],
    ["nothing in common", "abc", "xyz", "..."],
    ["equal lines next to unique ones", "a{b}c{d}", "a{X}c{d}", "a{.}c{d}"],
    ["only equal lines", "{{{}}}", "{{}}", "{{}}"],
    ["a copy of a block below it", "abc", "abcabc", "abc..."],
    ["a line that moved far", "abcdefghij", "bcdefghija", "bcdefghij."],
    ["a block that moved", "abcdefghijklmnop", "hijklmnopabcdefg", "hijklmnop......."],
    ["two lines that changed places", "abcdef", "abdcef", "ab..ef"],
    ["a line that moved past a few", "abcdefghij", "abgcdefhij", "ab.....hij"]
  ])("%s", (_, before, now, aligned) => {
    expect(show(before, now)).toBe(aligned)
  })

  it("does not take a bracket for a line that moved", () => {
    const found = alignLines([..."}ab"], [..."ab}"], () => false)
    expect([...found]).toEqual([1, 2, -1])
  })

  it("keeps the order of both sides, whatever they are", () => {
    let seed = 1
    const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below
    for (let n = 0; n < 300; n++) {
      const letters = 3 + random(40)
      const text = () => Array.from({ length: random(60) }, () => String(random(letters)))
      const before = text()
      const now =
        n % 2 === 0 ? text() : before.flatMap((line) => (random(5) === 0 ? [] : [line, ...(random(9) ? [] : ["new"])]))
      const found = alignLines(before, now, () => true)
      let last = -1
      for (const [at, other] of found.entries()) {
        if (other < 0) continue
        expect(before[other]).toBe(now[at])
        expect(other).toBeGreaterThan(last)
        last = other
      }
    }
  })
})
