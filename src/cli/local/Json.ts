/** Formats a review as one JSON object with stable field names. */
import { usageJson } from "../../domain/Analysis.ts"
import { isPartial } from "./Report.ts"
import type { LocalReview } from "./Report.ts"
import { inEnglish } from "../../text/en.ts"
import { summaryText } from "../../domain/SummaryText.ts"

export const renderJson = ({ analysis, baseName, from, head, root, vcs }: LocalReview): string => {
  const { usage, coverage } = analysis
  const value = {
    repository: root,
    vcs,
    base: { name: baseName, commit: from },
    head,
    // A part of the change was not read, or reports of the model could not be used.
    ...(isPartial(analysis) ? { partial: true } : {}),
    ...(analysis.skipped === undefined ? {} : { skipped: inEnglish(analysis.skipped) }),
    findings: analysis.findings.map(({ fingerprint, problem, anchor }) => ({
      fingerprint,
      file: anchor?.path ?? problem.file,
      // Lines are only included if the quoted code was found: a guess is worse than none.
      ...(anchor === undefined ? {} : { side: anchor.side, line: anchor.start ?? anchor.line, end_line: anchor.line }),
      severity: problem.severity,
      category: problem.category,
      title: problem.title,
      message: problem.message,
      suggestion: problem.suggestion,
      quote: problem.quote,
      confidence: problem.confidence
    })),
    summary: summaryText(analysis, inEnglish),
    coverage,
    notices: analysis.notices.map(inEnglish),
    models: analysis.models,
    usage: usageJson(usage)
  }
  return `${JSON.stringify(value, undefined, 2)}\n`
}
