/**
 * Renders the change for a model: per file a heading, per hunk its header, per line its number, the mark and the code. A line has one
 * number, and no columns are aligned, because every line of every change pays for it. Numbers let a model name a position, marks show
 * the kind of change; anchoring trusts neither and uses the quoted code.
 */
import { oneLine, showName } from "../domain/Text.ts"
import type { FileDiff, Hunk } from "./FileDiff.ts"
import { readLength } from "./HunkText.ts"
import { detectLanguage } from "./Languages.ts"
import { countTokens } from "./Tokens.ts"

/** Longer lines (minified code, data) are shown in windows (LongLines.ts), or cut, and say so. */
export const maxLineLength = 4000

const maxTitle = 120

/** Characters of a token, where they are not counted. */
const tokenLength = 2

/** Tokens of a number of up to nine digits, what separates it from the code, and the line break. */
export const numberTokens = 5

/** Minimum tokens of a line: those of its number and its mark. */
export const minLineTokens = numberTokens + 1

/** Counts the tokens of a rendered line: its code up to the limit, and its numbers. The tokens of windows are estimated. */
const lineTokens = (line: string): number => {
  if (line.length <= maxLineLength) return countTokens(line) + numberTokens
  const windows = line[0] === " " ? 0 : Math.ceil((line.length - maxLineLength) / tokenLength)
  return countTokens(line.slice(0, maxLineLength)) + 28 + windows
}

const counted = new WeakMap<ReadonlyArray<string>, Int32Array>()

/** `lineTokens` of each line of a hunk; counted once. */
export const hunkTokens = (hunk: Hunk): Int32Array => {
  const lines = hunk.lines
  const known = counted.get(lines)
  if (known !== undefined) return known
  const tokens = new Int32Array(lines.length)
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ""
    const count = lineTokens(line)
    tokens[at] = count
  }
  counted.set(lines, tokens)
  return tokens
}

const renderHeading = (file: FileDiff, part?: { readonly index: number; readonly of: number }): string => {
  const facts: Array<string> = [
    file.oldPath === undefined ? file.status : `${file.status} from ${showName(file.oldPath)}`
  ]
  const language = detectLanguage(file.path)
  if (language !== undefined) facts.push(language)
  if (file.newMode === "120000") facts.push("symbolic link")
  if (file.oldMode !== undefined && file.newMode !== undefined && file.oldMode !== file.newMode) {
    facts.push(`mode ${file.oldMode} to ${file.newMode}`)
  }
  const { commit } = file
  if (commit !== undefined) {
    const title = oneLine(commit.title.slice(0, maxTitle))
    facts.push(`commit ${commit.index} of ${commit.of}, ${commit.id.slice(0, 12)}: ${title}`)
  }
  if (part !== undefined) facts.push(`part ${part.index} of ${part.of}`)
  return `=== ${showName(file.path)} (${facts.join(", ")})\n`
}

export const renderFile = (file: FileDiff, part?: { readonly index: number; readonly of: number }): string => {
  const rows = [renderHeading(file, part)]
  for (const hunk of file.hunks) {
    renderHunk(hunk, rows)
  }
  return rows.join("")
}

const renderHunk = (hunk: Hunk, rows: Array<string>): void => {
  const { oldStart, oldLines, newStart, newLines, section } = hunk
  rows.push(`${`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@ ${section}`.trimEnd()}\n`)
  let oldLine = oldStart
  let newLine = newStart
  for (const line of hunk.lines) {
    const mark = line[0] ?? " "
    const number = mark === "-" ? oldLine : newLine
    if (mark !== "+") oldLine++
    if (mark !== "-") newLine++
    rows.push(`${number}${mark.trim()}: ${cut(line.endsWith("\r") ? line.slice(1, -1) : line.slice(1))}\n`)
  }
}

const cut = (code: string): string => {
  if (code.length <= maxLineLength) return code
  const left = `${code.length - maxLineLength}${code.length + 1 < readLength ? "" : " or more"}`
  return `${code.slice(0, maxLineLength)} … [${left} more characters of this line are not shown]`
}
