/** Formats a review as one JSON object with stable field names: those of the tools for coding agents, and facts about this run. */
import { usageJson } from "../../domain/Analysis.ts"
import { toFindingJson } from "../../domain/ReviewJson.ts"
import type { ReviewJson } from "../../domain/ReviewJson.ts"
import { formatNotices, isPartial } from "./Report.ts"
import type { LocalReview } from "./Report.ts"
import { inEnglish } from "../../text/en.ts"
import { summaryText } from "../../domain/SummaryText.ts"

export const renderJson = ({ analysis, baseName, from, head, root, vcs }: LocalReview): string => {
  const { usage, coverage } = analysis
  const review: ReviewJson = {
    head,
    ...(isPartial(analysis) ? { partial: true } : {}),
    ...(analysis.skipped === undefined ? {} : { skipped: inEnglish(analysis.skipped) }),
    findings: analysis.findings.map((finding) => toFindingJson(finding)),
    summary: summaryText(analysis, inEnglish)
  }
  const value = {
    repository: root,
    vcs,
    base: { name: baseName, commit: from },
    ...review,
    coverage,
    notices: formatNotices(analysis),
    models: analysis.models,
    usage: usageJson(usage)
  }
  return `${JSON.stringify(value, undefined, 2)}\n`
}
