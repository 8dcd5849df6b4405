import { describe, expect, it } from "vitest"
import * as fc from "fast-check"
import { Severity, severityRank } from "../../src/domain/Kinds.ts"
import type { Finding } from "../../src/domain/Problem.ts"
import { calibrate } from "../../src/review/Calibrate.ts"

const finding = (severity: Severity, category: string, path: string | undefined, confidence?: number): Finding => ({
  fingerprint: "f",
  problem: {
    file: path ?? "src/a.ts",
    severity,
    category,
    message: "m",
    ...(confidence === undefined ? {} : { confidence })
  },
  ...(path === undefined ? {} : { anchor: { path, side: "new", line: 1 } })
})

describe("severity", () => {
  it.each<readonly [string, Finding, Severity]>([
    ["security stays critical", finding("critical", "security", "src/a.ts"), "critical"],
    ["correctness stays critical", finding("critical", "correctness", "src/a.ts"), "critical"],
    ["a sure model is believed", finding("critical", "correctness", "src/a.ts", 0.5), "critical"],
    ["half a doubt", finding("critical", "security", "src/a.ts", 0.49), "medium"],
    ["much doubt", finding("high", "security", "src/a.ts", 0.2), "low"],
    ["doubt about something small", finding("info", "security", "src/a.ts", 0.2), "info"],
    ["style by any name", finding("high", "Readability", "src/a.ts"), "low"],
    ["documentation", finding("medium", "documentation", "src/a.ts"), "low"],
    ["missing tests", finding("critical", "testing", "src/a.ts"), "medium"],
    ["wrong code in a test", finding("high", "correctness", "src/a.test.ts"), "medium"],
    ["a secret in a test", finding("critical", "security", "test/fixtures/key.ts"), "critical"],
    ["prose", finding("high", "correctness", "docs/a.md"), "medium"],
    ["configuration is no prose", finding("high", "correctness", "package.json"), "high"],
    ["slow code", finding("critical", "perf", "src/a.ts"), "high"],
    ["no line of the change", finding("critical", "correctness", undefined), "high"],
    ["the strictest rule counts", finding("critical", "style", "src/a.test.ts", 0.4), "low"]
  ])("%s", (_, given, severity) => {
    expect(calibrate(given).problem.severity).toBe(severity)
  })

  it("is never raised, nothing else changes, and doing it twice changes nothing", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...Severity.literals),
        fc.string(),
        fc.option(fc.string(), { nil: undefined }),
        fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined }),
        (severity, category, path, confidence) => {
          const given = finding(severity, category, path, confidence)
          const calibrated = calibrate(given)
          expect(severityRank(calibrated.problem.severity)).toBeLessThanOrEqual(severityRank(severity))
          expect({ ...calibrated, problem: { ...calibrated.problem, severity } }).toEqual(given)
          expect(calibrate(calibrated)).toBe(calibrated)
        }
      )
    )
  })
})
