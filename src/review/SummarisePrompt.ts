/** Prompts for summaries: of the parts of a change that are not shown verbatim, and of a review of several passes. Pure. */
import type { Finding } from "../domain/Problem.ts"

const block = (name: string, fence: string, text: string) =>
  `<${name} ${fence}>\n${text.trimEnd()}\n</${name} ${fence}>`

/** Requests one line per file of a part of the change that no pass shows. */
export const summarisePrompt = (diff: string, fence: string): string =>
  `Do not review now. Summarise the parts of a change below for a reviewer who cannot see them: publish_summary, once, with one line
per file, \`path: summary\`. Say in one to three sentences what changes in behaviour, and name functions, types, tables and settings that are
added, removed, renamed or get another meaning. Do not judge. Only lines with the word ${fence} are fences.

${block("diff", fence, diff)}`

const maxSummary = 1200

/** Returns one line per file. Lines about paths that were not requested are dropped. */
export const summaryLines = (markdown: string, requested: ReadonlySet<string>): ReadonlyArray<string> => {
  const found = new Map<string, string>()
  for (const line of markdown.split("\n")) {
    const end = line.indexOf(": ")
    const path = line
      .slice(0, Math.max(0, end))
      .replace(/^[\s*`-]+/, "")
      .replaceAll("`", "")
    const summary = line
      .slice(end + 2)
      .replace(/[\p{Cc}\u2028\u2029]+/gu, " ")
      .trim()
    if (requested.has(path) && !found.has(path) && summary !== "")
      found.set(path, `${path}: ${summary.slice(0, maxSummary)}`)
  }
  return [...found.values()]
}

const maxNotes = 12_000
const maxFindings = 30
const maxTitle = 160

/** Requests the summary of a review from the notes of its passes, without the diff. */
export const reviewSummaryPrompt = (
  notes: ReadonlyArray<string>,
  findings: ReadonlyArray<Finding>,
  fence: string
): string => {
  const share = Math.floor(maxNotes / Math.max(1, notes.length))
  const listed = findings.slice(0, maxFindings).map(({ problem, anchor }) => {
    const title = (problem.title ?? problem.message).replace(/[\p{Cc}\u2028\u2029]+/gu, " ").slice(0, maxTitle)
    return `${problem.severity}: ${anchor?.path ?? problem.file}: ${title}`
  })
  return [
    `Do not review now: the change was reviewed in ${notes.length} passes. Write the summary of the whole review from their notes with publish_summary, once. Write one list item for each group of files, with what changes and why it matters, in at most 150 words, without a heading. The findings are published on their own, and some may still be withdrawn: neither list nor count them.`,
    block("notes", fence, notes.map((note, at) => `${at + 1}. ${note.slice(0, share)}`).join("\n")),
    ...(listed.length === 0 ? [] : [block("reported", fence, listed.join("\n"))])
  ].join("\n\n")
}
