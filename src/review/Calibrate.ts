/**
 * Severity by rules: a severity that a model may have overstated is lowered, never raised. Of all rules that apply to a
 * finding the strictest counts.
 *
 * | finding                                                          | at most |
 * |------------------------------------------------------------------|---------|
 * | how code reads: maintainability, style, documentation            | low     |
 * | missing or weak tests                                            | medium  |
 * | in tests, examples or prose, unless it is about security         | medium  |
 * | confidence of the model below one half                           | medium  |
 * | confidence of the model below one quarter                        | low     |
 * | performance, and findings without a line in the change           | high    |
 *
 * Pure.
 */
import { canonicalCategory } from "../domain/CanonicalCategory.ts"
import { severityRank } from "../domain/Kinds.ts"
import type { Severity } from "../domain/Kinds.ts"
import type { Finding } from "../domain/Problem.ts"
import { detectLanguage } from "./Languages.ts"
import { riskTier } from "./Risk.ts"

interface Rule {
  readonly most: Severity
  readonly holds: (finding: Finding, category: string, path: string) => boolean
}

const reading = new Set(["maintainability", "documentation", "docs", "comments", "naming", "formatting", "nitpick"])

const rules: ReadonlyArray<Rule> = [
  { most: "low", holds: (_, category) => reading.has(category) },
  { most: "medium", holds: (_, category) => category === "testing" || category === "tests" },
  {
    most: "medium",
    holds: (_, category, path) =>
      category !== "security" && (riskTier({ path }) === 2 || detectLanguage(path) === "Markdown")
  },
  { most: "medium", holds: ({ problem }) => (problem.confidence ?? 1) < 0.5 },
  { most: "low", holds: ({ problem }) => (problem.confidence ?? 1) < 0.25 },
  { most: "high", holds: ({ anchor }, category) => category === "performance" || anchor === undefined }
]

/** The same finding where no rule lowers it. */
export const calibrate = (finding: Finding): Finding => {
  const { problem, anchor } = finding
  const category = canonicalCategory(problem.category)
  const severity = rules
    .filter((rule) => rule.holds(finding, category, anchor?.path ?? problem.file))
    .reduce((least, { most }) => (severityRank(most) < severityRank(least) ? most : least), problem.severity)
  return severity === problem.severity ? finding : { ...finding, problem: { ...problem, severity } }
}
