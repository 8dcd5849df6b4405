/** Formats a review for a terminal. Text of models is displayed without control characters, which could control the terminal. */
import { withoutInvisible } from "../../domain/Text.ts"
import { severityRank } from "../../domain/Kinds.ts"
import type { Severity } from "../../domain/Kinds.ts"
import { formatUsd } from "../../domain/Money.ts"
import type { Finding } from "../../domain/Problem.ts"
import { countSkipped } from "../../domain/Coverage.ts"
import { formatLocation, formatNotices, formatSkip, formatTitle, formatVerdict } from "./Report.ts"
import type { LocalReview } from "./Report.ts"
import { summaryText } from "../../domain/SummaryText.ts"
import { inEnglish } from "../../text/en.ts"

const colours: Readonly<Record<Severity, string>> = { critical: "1;31", high: "31", medium: "33", low: "36", info: "2" }

export const renderText = (review: LocalReview, colour: boolean): string => {
  const paint = (code: string, text: string) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text)
  const { findings, coverage, models, usage } = review.analysis
  const notices = formatNotices(review.analysis)
  const blocks = findings.map((finding) => renderFinding(finding, paint))
  const summary = summaryText(review.analysis, inEnglish)
  if (summary.trim() !== "") blocks.push(plain(summary.trim()))
  const left = coverage.skipped.map((file) => `  ${plain(file.path)} (${plain(formatSkip(file))})`)
  if (left.length > 0)
    blocks.push(["Not read, or not in full:", ...shortened(left, 20, countSkipped(coverage))].join("\n"))
  if (notices.length > 0) blocks.push(notices.map((notice) => paint("33", `Note: ${plain(notice)}`)).join("\n"))
  const cost = usage.costUsd === undefined || usage.costUsd === 0 ? "" : `, $${formatUsd(usage.costUsd, 4)}`
  const spent =
    models.length === 0 ? "" : ` (${models.join(", ")}: ${usage.inputTokens} in, ${usage.outputTokens} out${cost})`
  blocks.push(paint("1", plain(formatVerdict(review))) + paint("2", spent))
  return `${blocks.join("\n\n")}\n`
}

const renderFinding = (finding: Finding, paint: (code: string, text: string) => string): string => {
  const { problem } = finding
  const lines = [
    `${paint("1", plain(formatLocation(finding)))}  ${paint(colours[problem.severity], problem.severity)}  ${plain(problem.category)}`,
    `  ${paint("1", plain(formatTitle(finding)))}`
  ]
  const message = plain(problem.message.trim())
  if (message !== plain(formatTitle(finding))) lines.push(indent(message, "  "))
  if (problem.quote !== undefined) lines.push(indent(paint("2", plain(problem.quote.trimEnd())), "    | "))
  if (problem.suggestion !== undefined) {
    lines.push("  Suggestion:", indent(paint("32", plain(problem.suggestion.trimEnd())), "    + "))
  }
  return lines.join("\n")
}

const indent = (text: string, by: string): string => text.replace(/^/gm, by)

const plain = (text: string): string =>
  withoutInvisible(text.replace(/\r\n?/g, "\n").replace(/(?![\n\t])\p{Cc}/gu, "\ufffd"))

const shortened = (lines: ReadonlyArray<string>, most: number, total: number): ReadonlyArray<string> => {
  const shown = lines.slice(0, most)
  return total <= shown.length ? shown : [...shown, `  and ${total - shown.length} more`]
}

/** Returns the findings for `--fail-on`. */
export const atOrAbove = (findings: ReadonlyArray<Finding>, severity: Severity): ReadonlyArray<Finding> =>
  findings.filter(({ problem }) => severityRank(problem.severity) >= severityRank(severity))
