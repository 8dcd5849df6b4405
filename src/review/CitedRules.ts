/** The rule that a problem cites: only one of the prompt counts, and its severity is the least that the problem has. Pure. */
import { severityRank } from "../domain/Kinds.ts"
import type { Finding, ReportedProblem } from "../domain/Problem.ts"
import type { RuleUse } from "../domain/RuleUse.ts"

type CitedRule = Pick<RuleUse, "id" | "severity">

/** Removes citations of rules that the prompt does not have. */
export const citeRules = (
  problems: ReadonlyArray<ReportedProblem>,
  rules: ReadonlyArray<CitedRule>
): ReadonlyArray<ReportedProblem> =>
  problems.map((problem) => {
    const { rule, ...rest } = problem
    return rule === undefined || rules.some(({ id }) => id === rule) ? problem : rest
  })

/** Raises the severity to that of the cited rule. */
export const applyRule = (finding: Finding, rules: ReadonlyArray<CitedRule>): Finding => {
  const { problem } = finding
  const cited = rules.find(({ id }) => id === problem.rule)
  return cited === undefined || severityRank(cited.severity) <= severityRank(problem.severity)
    ? finding
    : { ...finding, problem: { ...problem, severity: cited.severity } }
}
