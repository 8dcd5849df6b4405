import { describe, expect, it } from "vitest"
import type { Finding } from "../../src/domain/Problem.ts"
import type { Severity } from "../../src/domain/Kinds.ts"
import { mergeFindings } from "../../src/review/Merge.ts"

const finding = (
  fingerprint: string,
  severity: Severity,
  lines?: readonly [number, number],
  category = "bug"
): Finding => ({
  fingerprint,
  problem: { file: "a.ts", severity, category, message: `${fingerprint} ${severity}` },
  ...(lines === undefined
    ? {}
    : { anchor: { path: "a.ts", side: "new", line: lines[1], ...(lines[0] < lines[1] ? { start: lines[0] } : {}) } })
})

const all = { minSeverity: "info", maxProblems: 100 } as const

describe("mergeFindings", () => {
  it.each<readonly [string, ReadonlyArray<Finding>, ReadonlyArray<string>]>([
    [
      "one identity is one finding, the most severe",
      [finding("x", "low", [1, 1]), finding("x", "high", [1, 1])],
      ["x high"]
    ],
    ["nearly the same lines are one", [finding("x", "low", [4, 6]), finding("y", "high", [4, 7])], ["y high"]],
    [
      "a line inside a long range is another",
      [finding("x", "high", [1, 20]), finding("y", "low", [5, 5])],
      ["x high", "y low"]
    ],
    [
      "another category is another, on other lines",
      [finding("x", "high", [4, 4]), finding("y", "high", [4, 6], "security")],
      ["x high", "y high"]
    ],
    [
      "another category on exactly the same lines is one comment, of the stronger one",
      [finding("x", "low", [4, 4]), finding("y", "high", [4, 4], "security")],
      ["y high\n\nx low"]
    ],
    [
      "synonyms are the same category",
      [finding("x", "high", [4, 4]), finding("y", "low", [4, 4], "Logic error")],
      ["x high"]
    ],
    [
      "without a place, by identity",
      [finding("x", "low"), finding("x", "low"), finding("y", "low")],
      ["x low", "y low"]
    ],
    [
      "severe first, then by line",
      [finding("x", "low", [1, 1]), finding("y", "critical", [9, 9]), finding("z", "low", [0, 0])],
      ["y critical", "z low", "x low"]
    ]
  ])("%s", (_name, given, expected) => {
    const merged = mergeFindings(given, all)
    expect(merged.findings.map(({ problem }) => problem.message)).toEqual(expected)
    expect(merged.duplicates).toBe(given.length - expected.length)
  })

  it("counts what it leaves out", () => {
    const given = (["info", "low", "medium", "high", "critical"] as const).map((severity, index) =>
      finding(String(index), severity)
    )
    const merged = mergeFindings(given, { minSeverity: "low", maxProblems: 3 })
    expect(merged.findings.map(({ problem }) => problem.severity)).toEqual(["critical", "high", "medium"])
    expect(merged).toMatchObject({ belowSeverity: 1, overLimit: 1, duplicates: 0 })
  })
})
