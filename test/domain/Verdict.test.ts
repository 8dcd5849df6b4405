import { inEnglish } from "../../src/text/en.ts"
import { describe, expect, it } from "vitest"
import { finding } from "../outputs/Fixtures.ts"
import { noUsage } from "../../src/domain/Analysis.ts"
import type { SkippedFile } from "../../src/domain/Coverage.ts"
import { describe as describeVerdict, decideVerdict } from "../../src/domain/Verdict.ts"
import { verbatimReason } from "../../src/domain/Reason.ts"

const analysis = (skipped: ReadonlyArray<SkippedFile>) => ({
  findings: [],
  coverage: { reviewed: ["a"], skipped, lines: 1 },
  usage: { ...noUsage, requests: 1 }
})
const unread = analysis([{ path: "b", reason: "long_lines", unread: true, read: 1, changed: 1 }])
const little = { ...analysis([]), coverage: { reviewed: ["a"], skipped: [], lines: 89, changed: 100 } }
const lost = {
  ...analysis([]),
  coverage: { reviewed: ["a"], skipped: [], lines: 1, unusable: [{ reason: "report" as const, count: 2 }] }
}
const overBudget = [{ path: "b", reason: "budget", unread: true, read: 0, changed: 1 }] as const
const refused = {
  ...analysis([]),
  coverage: { reviewed: [], skipped: overBudget, lines: 0, changed: 1 },
  usage: noUsage
}

const words = (of: Parameters<typeof describeVerdict>[0]) => inEnglish(describeVerdict(of))

describe("the verdict on a commit", () => {
  it.each([
    ["all was read", analysis([]), "neutral", "success"],
    ["what was left out is as configured", analysis([{ path: "b", reason: "excluded" }]), "fail", "success"],
    ["added text was not read", unread, "neutral", "neutral"],
    ["added text was not read", unread, "fail", "failure"],
    ["added text was not read", unread, "ignore", "success"],
    ["reports could not be read", lost, "neutral", "neutral"],
    ["reports could not be read", lost, "fail", "failure"],
    ["reports could not be read", lost, "ignore", "success"],
    ["less than 90 % was read", little, "ignore", "neutral"],
    ["less than 90 % was read", little, "fail", "failure"],
    ["the budget refused the first call", refused, "neutral", "neutral"],
    ["the budget refused the first call", refused, "fail", "failure"],
    ["90 % was read", { ...little, coverage: { ...little.coverage, lines: 90 } }, "neutral", "success"],
    ["a whole file was not counted", analysis([{ path: "b", reason: "max_files", unread: true }]), "ignore", "neutral"]
  ] as const)("%s (%s, %s)", (_, of, setting, expected) =>
    expect(decideVerdict(of, { unread: setting })).toBe(expected)
  )

  it.each([
    [["low", "high"], "high", "failure"],
    [["low", "medium"], "high", "success"],
    [["low"], "info", "failure"],
    [["critical"], undefined, "success"],
    [[], "info", "success"]
  ] as const)("with problems of %j, failing on %s: %s", (severities, failOn, expected) => {
    const findings = severities.map((severity, n) => finding(n + 1, { severity }))
    expect(decideVerdict({ ...analysis([]), findings }, { unread: "neutral", status_fail_on: failOn })).toBe(expected)
    expect(decideVerdict({ ...unread, findings }, { unread: "neutral", status_fail_on: failOn })).toBe(
      expected === "failure" ? "failure" : "neutral"
    )
  })

  it("a dismissed problem fails nothing, and the description counts it apart", () => {
    const findings = [finding(1, { severity: "high" }), finding(2, { severity: "low" })]
    const dismissed = findings.slice(0, 1).map(({ fingerprint }) => fingerprint)
    const of = { ...analysis([]), findings, dismissed }
    expect(decideVerdict(of, { unread: "neutral", status_fail_on: "high" })).toBe("success")
    expect(words(of)).toBe("1 low, 1 dismissed")
  })

  it("names what was not read, and never calls it clean", () => {
    expect(words(analysis([]))).toBe("No problems found")
    expect(words({ ...analysis([]), skipped: verbatimReason("nothing") })).toBe("Nothing to review")
    expect(words({ ...unread, skipped: verbatimReason("nothing") })).toBe(
      "No problems found in what was read; 1 file not read in full"
    )
    expect(words(lost)).toBe("No problems found in what could be used; 2 reports of the model could not be read")
    expect(words(refused)).toBe("Not reviewed: the budget for model calls is exhausted")
    expect(words({ ...refused, findings: [finding(1, { severity: "low" })] })).toBe(
      "Not reviewed: the budget for model calls is exhausted; 1 known problem"
    )
    expect(words({ ...refused, usage: { ...noUsage, requests: 1 } })).toBe(
      "No problems found in what was read; 1 file not read in full"
    )
    expect(words(little)).toBe("No problems found in what was read; 89 of 100 changed lines read")
  })
})

describe("the verdict on a merge group", () => {
  const states = (...members: ReadonlyArray<"success" | "failure" | "neutral" | undefined>) => ({
    ...analysis([]),
    members: members.map((state, at) => ({ number: at + 1, ...(state === undefined ? {} : { run: "r", state }) }))
  })
  it.each([
    ["all passed, or were read with the group", states("success", undefined), "neutral", "success"],
    ["one failed", states("success", "failure"), "ignore", "failure"],
    ["one was not read in full", states("neutral", "success"), "neutral", "neutral"],
    ["one was not read in full", states("neutral", "success"), "fail", "failure"]
  ] as const)("%s", (_, group, setting, expected) => {
    expect(decideVerdict(group, { unread: setting })).toBe(expected)
  })

  it("names the pull requests that did not pass", () => {
    expect(words(states("success", "failure", "neutral"))).toBe("No problems found; not passed: #2, #3")
  })
})
