/** Gives suggestions the indentation of the lines that they replace. */
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { indentSuggestion } from "../../src/review/SuggestionIndent.ts"

describe("a suggestion", () => {
  it.each([
    ["for one line", "safe_call()", "    call()", "    safe_call()"],
    ["for one line with a tab", "safe_call()", "\tcall()", "\tsafe_call()"],
    [
      "of a block that begins at the left",
      "if x:\n    safe()",
      "    if x:\n        call()",
      "    if x:\n        safe()"
    ],
    [
      "whose first line alone lacks it",
      "if x:\n        safe()",
      "    if x:\n        call()",
      "    if x:\n        safe()"
    ],
    ["with a brace at the left", "if (x) {\n  safe()\n}", "  call()", "  if (x) {\n    safe()\n  }"],
    ["with a brace in its place", "if (x) {\n    safe()\n  }", "  call()", "  if (x) {\n    safe()\n  }"],
    ["of two statements at the left", "a = 1\nb = 2", "    a = 2", "    a = 1\n    b = 2"],
    ["of two statements, the second in its place", "a = 1\n    b = 2", "    a = 2", "    a = 1\n    b = 2"],
    ["with a line that goes on", "a = f(\n    b,\n)", "    a = g()", "    a = f(\n        b,\n    )"],
    ["with blank lines", "\na = 1\n\nb = 2\n", "    a = 2", "\n    a = 1\n\n    b = 2\n"],
    ["with less indentation", "  a = 1", "    a = 2", "  a = 1"],
    ["for lines at the left", "a = 1", "a = 2", "a = 1"],
    ["that is empty", "", "    a = 2", ""],
    ["for blank lines", "a = 1", "\n  \n", "a = 1"],
    ["for a blank line above the code", "a = 1", "\n    a = 2", "    a = 1"]
  ])("%s", (_, suggestion, replaced, expected) => {
    expect(indentSuggestion(suggestion, replaced)).toBe(expected)
  })

  /** Blocks as programs have them, with their depth per line. The first line has depth 0. */
  const block = fc.array(fc.nat(2), { maxLength: 6 }).map((steps) => {
    let depth = 0
    return steps.map((step, index) => (depth = index === 0 ? 0 : Math.max(0, Math.min(depth + 1, step))))
  })
  const unit = fc.constantFrom("\t", "  ", "    ")
  const write = (depths: ReadonlyArray<number>, step: string, indent: string) =>
    depths
      .map((depth, at) => `${indent}${step.repeat(depth)}line${at}${(depths[at + 1] ?? 0) > depth ? ":" : ""}`)
      .join("\n")

  it("has the indentation of the file, however much of it the model sent", () => {
    fc.assert(
      fc.property(block, unit, fc.integer({ min: 1, max: 3 }), (depths, step, level) => {
        const indent = step.repeat(level)
        const right = write(depths, step, indent)
        expect(indentSuggestion(write(depths, step, ""), right)).toBe(right)
        expect(indentSuggestion(right.slice(depths.length === 0 ? 0 : indent.length), right)).toBe(right)
        expect(indentSuggestion(right, right)).toBe(right)
      })
    )
  })

  it("keeps every character but white space at the begin of lines", () => {
    const text = fc
      .array(fc.constantFrom("a", ":", " ", "\t", "\n", "}", "\r"), { maxLength: 40 })
      .map((parts) => parts.join(""))
    fc.assert(
      fc.property(text, text, (suggestion, replaced) => {
        const bare = (code: string) => code.split("\n").map((line) => line.trimStart())
        const indented = indentSuggestion(suggestion, replaced)
        expect(bare(indented)).toEqual(bare(suggestion))
        expect(indentSuggestion(indented, replaced)).toBe(indented)
      })
    )
  })
})
