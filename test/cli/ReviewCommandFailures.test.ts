import { expect, it } from "vitest"
import { listFailures } from "../../src/cli/ReviewCommand.ts"
import type { Analysis } from "../../src/domain/Analysis.ts"
import { analysis, finding } from "../outputs/Fixtures.ts"

const partial = "a part of the change was not read (--fail-on-partial)"
const coverage = { reviewed: ["a.ts"], skipped: [], lines: 100, changed: 100 }
const skipped = { path: "b.ts", reason: "max_files" } as const

it.each<readonly [string, Partial<Analysis>, ReadonlyArray<string>]>([
  ["all of it was read", {}, []],
  ["a pass did not end", { partial: true }, [partial]],
  [
    "a file was left out",
    { coverage: { ...coverage, skipped: [{ ...skipped, unread: true, read: 0, changed: 2 }] } },
    [partial]
  ],
  ["a file was excluded", { coverage: { ...coverage, skipped: [skipped] } }, []],
  ["less than 90 % of the lines were read", { coverage: { ...coverage, lines: 89 } }, [partial]],
  ["90 % of the lines were read", { coverage: { ...coverage, lines: 90 } }, []]
])("--fail-on-partial: %s", (_, more, expected) => {
  const review = { analysis: analysis([], { coverage, ...more }) }
  expect(listFailures(review, undefined, true)).toEqual(expected)
  expect(listFailures(review, undefined, false)).toEqual([])
})

it("--fail-on does not pass over a report that could not be read", () => {
  const lost = { ...coverage, unusable: [{ reason: "report", count: 2 }] as const }
  const review = { analysis: analysis([], { coverage: lost, partial: true }) }
  const expected = "2 reports of the model could not be read, of unknown severity (--fail-on critical)"
  expect(listFailures(review, "critical", false)).toEqual([expected])
  expect(listFailures(review, "critical", true)).toEqual([expected, partial])
  expect(listFailures(review, undefined, false)).toEqual([])
})

it("--fail-on counts the problems of the severity and above", () => {
  const findings = (["low", "high", "critical"] as const).map((severity, n) => finding(n, { severity }))
  const review = { analysis: analysis(findings, { coverage }) }
  expect(listFailures(review, "high", true)).toEqual(["2 problems of severity high or above (--fail-on high)"])
})
