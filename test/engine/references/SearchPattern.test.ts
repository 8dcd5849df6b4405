/** Patterns of models: what files are selected by, and how much of a line is searched and shown. */
import * as fc from "fast-check"
import { RE2JS } from "re2js"
import { describe, expect, it } from "vitest"
import { compileSearch, findLines } from "../../../src/engine/references/SearchPattern.ts"

const textsOf = (pattern: string) => {
  const planned = compileSearch(pattern, false)
  return "refused" in planned ? undefined : planned.texts
}

describe("texts that select files", () => {
  it.each([
    ["pay\\(\\d+", ["pay("]],
    ["get(User|Team)s?", ["User", "Team"]],
    ["(foo|bar)+x", ["foo", "bar"]],
    ["\\bab?cd\\b", ["cd"]],
    ["^import .* from", ["import "]],
    ["\\Qa.b\\E", ["a.b"]],
    ["a.*b", undefined],
    ["(foo)?", undefined],
    ["foo|x*", undefined],
    ["(?i)foo", undefined],
    ["one\ntwo", undefined],
    [Array.from({ length: 21 }, (_, at) => `${String.fromCharCode(97 + at)}foo`).join("|"), undefined]
  ])("%s", (pattern, expected) => expect(textsOf(pattern)).toEqual(expected))

  it("are in every line that a pattern matches", () => {
    const part = fc.constantFrom(
      "ab",
      "cd",
      "(ab|cd)",
      "b?",
      "(c.)*",
      "[a-c]",
      "(?:ab){2}",
      "\\b",
      "a+",
      "(ad|b|)",
      "."
    )
    const pattern = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(""))
    const line = fc.string({ unit: fc.constantFrom("a", "b", "c", "d", " "), maxLength: 12 })
    fc.assert(
      fc.property(pattern, fc.array(line, { maxLength: 20 }), (text, lines) => {
        const texts = textsOf(text)
        const matching = lines.filter((one) => RE2JS.compile(text).matcher(one).find())
        const isSelected = (one: string) => texts === undefined || texts.some((wanted) => one.includes(wanted))
        expect(matching.filter((one) => !isSelected(one))).toEqual([])
      }),
      { numRuns: 2000 }
    )
  })
})

describe("matching lines", () => {
  const lines = (pattern: string, text: string, most = 10, isOver = () => false) => {
    const planned = compileSearch(pattern, false)
    return "refused" in planned ? planned.refused : findLines(planned, text, most, isOver)
  }

  it("are numbered, bounded in number, and shown without control characters", () => {
    expect(lines("ab", "ab\n\n\u001b[31m xab\r\nab")).toEqual([
      { line: 1, text: "ab" },
      { line: 3, text: "[31m xab" },
      { line: 4, text: "ab" }
    ])
    expect(lines("ab", "ab\n".repeat(100), 7)).toHaveLength(7)
    expect(lines("ab$", `${"x".repeat(998)}ab${"y".repeat(9)}`)).toEqual([
      { line: 1, text: expect.stringMatching(/^…x+ab$/) }
    ])
    expect(lines("ab", `${"x".repeat(1000)}ab`)).toEqual([])
  })

  it("end with the time for a file", () => {
    let left = 3
    expect(lines("ab", "ab\n".repeat(100), 50, () => --left === 0)).toHaveLength(3)
  })

  it("a pattern that compiles to too much is refused", () => {
    expect(lines("(ab{1,9}){1,90}(?:cd?){900}x", "x")).toContain("too large")
  })
})
