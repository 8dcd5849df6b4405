/** The risk of a hunk: the tier of its file, lines with sensitive words, and how much it changes. */
import { describe, expect, it } from "vitest"
import { hunkRisk } from "../../src/review/Compress.ts"

const riskOf = (lines: ReadonlyArray<string>, tier: 0 | 1 | 2 | 3 = 3) =>
  hunkRisk(tier, {
    oldStart: 1,
    oldLines: 1,
    newStart: 1,
    newLines: 1,
    section: "",
    openEnd: { old: false, new: false },
    lines
  })
const times = (count: number, line: string) => Array.from({ length: count }, () => line)

describe("the risk of a hunk", () => {
  it.each([
    ["the highest tier", 0, 40],
    ["the second tier", 1, 24],
    ["the third tier", 2, 10],
    ["the lowest tier", 3, 0]
  ] as const)("of %s starts at its weight", (_, tier, weight) => expect(riskOf([" x"], tier)).toBe(weight))

  it.each([
    ["nothing changed", [" token"], 0],
    ["one changed line", ["+x"], 4],
    ["three changed lines, added or removed", ["+x", "-x", "+x"], 8],
    ["fifteen changed lines", times(15, "+x"), 16],
    ["lines after the 48th count as changed", [...times(48, " x"), ...times(3, " x")], 8],
    ["a sensitive word", ["+x", "+x", "+a token"], 8 + 3],
    ["a line with two sensitive words counts once", ["+x", "+x", "-token token"], 8 + 3],
    ["a word that begins with a sensitive one, in any case", ["+x", "+x", "+AUTHENTICATE()"], 8 + 3],
    ["a sensitive word inside of another", ["+x", "+x", "+xauth _lock 9nil"], 8],
    ["a sensitive word in an unchanged line", ["+x", "+x", "+x", " token"], 8],
    ["a sensitive word that ends beyond column 160", ["+x", "+x", `+${" ".repeat(155)}token`], 8],
    ["a sensitive word before it", ["+x", "+x", `+${" ".repeat(154)}token`], 8 + 3],
    ["a sensitive word after the 48th line", [...times(47, " x"), "+x", "+token", " x"], 8],
    ["six lines with a sensitive word", [...times(9, "+x"), ...times(6, "+token")], 16 + 18],
    ["more than six lines with one reach the maximum", [...times(8, "+x"), ...times(7, "+token")], 16 + 20],
    ["fifteen lines with one stay at it", times(15, "+token"), 16 + 20]
  ] as const)("%s", (_, lines, risk) => expect(riskOf(lines)).toBe(risk))
})
