/** Formats a review for a file, a wiki or a comment: text of the model, of the change and of paths is as inert as in published comments. */
import type { Finding } from "../../domain/Problem.ts"
import { gfm } from "../../outputs/SafeText.ts"
import { count } from "../Wording.ts"
import { countSkipped } from "../../domain/Coverage.ts"
import { formatLocation, formatNotices, formatSkip, formatTitle, formatVerdict } from "./Report.ts"
import type { LocalReview } from "./Report.ts"
import { summaryText } from "../../domain/SummaryText.ts"
import { inEnglish } from "../../text/en.ts"

export const renderMarkdown = (review: LocalReview): string => {
  const { findings, coverage, models } = review.analysis
  const notices = formatNotices(review.analysis)
  const blocks = ["# Code review", gfm.line(formatVerdict(review))]
  const summary = summaryText(review.analysis, inEnglish)
  if (summary.trim() !== "") blocks.push(gfm.markdown(summary))
  if (findings.length > 0) blocks.push("## Problems", ...findings.map(renderFinding))
  if (coverage.skipped.length > 0) {
    const rows = coverage.skipped.map((file) => `- ${gfm.codeSpan(file.path)}: ${gfm.line(formatSkip(file))}`)
    const files = countSkipped(coverage)
    if (files > rows.length) rows.push(`- and ${files - rows.length} more`)
    const title = `${count(files, "file")} not read, or not in full`
    blocks.push(`<details><summary>${title}</summary>`, rows.join("\n"), "</details>")
  }
  if (notices.length > 0) blocks.push(notices.map((notice) => `> ${gfm.line(notice)}`).join("\n"))
  if (models.length > 0) blocks.push(`Written by ${models.map(gfm.codeSpan).join(", ")}.`)
  return `${joined(blocks)}\n`
}

const renderFinding = (finding: Finding): string => {
  const { problem } = finding
  return joined([
    `### ${gfm.line(formatTitle(finding))}`,
    `${gfm.codeSpan(formatLocation(finding))} · **${problem.severity}** · ${gfm.plain(problem.category)}`,
    gfm.markdown(problem.message),
    ...(problem.quote === undefined ? [] : [gfm.codeBlock("", problem.quote.trimEnd())]),
    ...(problem.suggestion === undefined ? [] : ["Suggestion:", gfm.codeBlock("", problem.suggestion.trimEnd())])
  ])
}

/** Removes leading empty lines of blocks, which multi-line values may have. */
const joined = (blocks: ReadonlyArray<string>): string =>
  blocks
    .map((block) => block.replace(/^\n+/, "").trimEnd())
    .filter((block) => block !== "")
    .join("\n\n")
