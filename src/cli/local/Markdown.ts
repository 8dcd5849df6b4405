/** For a file, a wiki or a comment. */
import type { Finding } from "../../domain/Problem.ts"
import { count } from "../Wording.ts"
import { placeOf, titleOf, verdictOf } from "./Report.ts"
import type { LocalReview } from "./Report.ts"

export const renderMarkdown = (review: LocalReview): string => {
  const { findings, summary, coverage, notices, models } = review.analysis
  const blocks = ["# Code review", verdictOf(review)]
  if (summary.trim() !== "") blocks.push(summary.trim())
  if (findings.length > 0) blocks.push("## Problems", ...findings.map(renderFinding))
  if (coverage.skipped.length > 0) {
    const rows = coverage.skipped.map(({ path, reason }) => `- ${code(path)}: ${reason}`)
    blocks.push(`<details><summary>${count(rows.length, "file")} not read</summary>`, rows.join("\n"), "</details>")
  }
  if (notices.length > 0) blocks.push(notices.map((notice) => `> ${notice}`).join("\n"))
  if (models.length > 0) blocks.push(`Written by ${models.map(code).join(", ")}.`)
  return `${blocks.join("\n\n")}\n`
}

const renderFinding = (finding: Finding): string => {
  const { problem } = finding
  const parts = [
    `### ${titleOf(finding).replace(/\s+/g, " ")}`,
    `${code(placeOf(finding))} · **${problem.severity}** · ${problem.category}`,
    problem.message.trim()
  ]
  if (problem.quote !== undefined) parts.push(fenced(problem.quote.trimEnd()))
  if (problem.suggestion !== undefined) parts.push("Suggestion:", fenced(problem.suggestion.trimEnd()))
  return parts.join("\n\n")
}

/** A fence longer than any run of backticks inside. */
const fenced = (text: string): string => {
  const fence = "`".repeat(Math.max(3, longestRun(text) + 1))
  return `${fence}\n${text}\n${fence}`
}

const code = (text: string): string => {
  const ticks = "`".repeat(longestRun(text) + 1)
  const pad = text.startsWith("`") || text.endsWith("`") ? " " : ""
  return `${ticks}${pad}${text.replace(/\s+/g, " ")}${pad}${ticks}`
}

const longestRun = (text: string): number => Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length))
