import { expect, it } from "vitest"
import { applyRule, citeRules } from "../../src/review/CitedRules.ts"
import { mergeFindings } from "../../src/review/Merge.ts"

const rules = [{ id: "a", severity: "high" }] as const
const problem = { file: "f.ts", severity: "low", category: "correctness", message: "m" } as const

it("drops the citation of a rule that the prompt does not have", () => {
  expect(citeRules([{ ...problem, rule: "a" }, { ...problem, rule: "A" }, problem], rules)).toEqual([
    { ...problem, rule: "a" },
    problem,
    problem
  ])
})

it.each([
  ["low", "a", "high"],
  ["critical", "a", "critical"],
  ["low", "b", "low"],
  ["low", undefined, "low"]
] as const)("a problem of severity %s that cites %s has severity %s", (severity, rule, expected) => {
  const finding = { fingerprint: "f", problem: { ...problem, severity, ...(rule === undefined ? {} : { rule }) } }
  expect(applyRule(finding, rules).problem.severity).toBe(expected)
})

it("survives in a merged finding", () => {
  const findings = [
    { fingerprint: "f", problem: { ...problem, severity: "high" } },
    { fingerprint: "f", problem: { ...problem, rule: "a" } }
  ] as const
  expect(mergeFindings(findings, { minSeverity: "info", maxProblems: 9 }).findings).toEqual([
    { fingerprint: "f", problem: { ...problem, severity: "high", rule: "a" } }
  ])
})
