/**
 * The change as a model reads it: per file a heading, per hunk its header, per line both line numbers and the mark. Numbers
 * let a model say where, marks let it see what; anchoring trusts neither and goes by quoted code.
 */
import type { FileDiff, Hunk } from "./FileDiff.ts"
import { languageOf } from "./Languages.ts"
import { countTokens } from "./Tokens.ts"

/** Longer lines (minified code, data) are shown cut, and say so. */
export const maxLineLength = 4000

const maxTitle = 120
const linesPerTurn = 512

/** What a line costs when it is shown: its code as far as it is shown, and the numbers beside it. */
export const lineTokens = (line: string): number =>
  line.length <= maxLineLength ? countTokens(line) + 9 : countTokens(line.slice(0, maxLineLength)) + 28

const counted = new WeakMap<ReadonlyArray<string>, Int32Array>()

/** `lineTokens` of each line of a hunk; counted once. A generator: it yields after every few hundred lines. */
export function* hunkTokens({ lines }: Hunk): Generator<void, Int32Array, void> {
  const known = counted.get(lines)
  if (known !== undefined) return known
  const tokens = new Int32Array(lines.length)
  for (let at = 0; at < lines.length; at++) {
    if (at % linesPerTurn === linesPerTurn - 1) yield
    tokens[at] = lineTokens(lines[at] ?? "")
  }
  counted.set(lines, tokens)
  return tokens
}

/** Lines that are shown in part. */
export const countCutLines = (file: FileDiff): number =>
  file.hunks.reduce((sum, { lines }) => sum + lines.filter((line) => line.length > maxLineLength + 2).length, 0)

const shown = (path: string): string => (/[\p{Cc}\u2028\u2029]/u.test(path) ? JSON.stringify(path) : path)

const renderHeading = (file: FileDiff, part?: { readonly index: number; readonly of: number }): string => {
  const facts: Array<string> = [file.oldPath === undefined ? file.status : `${file.status} from ${shown(file.oldPath)}`]
  const language = languageOf(file.path)
  if (language !== undefined) facts.push(language)
  if (file.newMode === "120000") facts.push("symbolic link")
  if (file.oldMode !== undefined && file.newMode !== undefined && file.oldMode !== file.newMode) {
    facts.push(`mode ${file.oldMode} to ${file.newMode}`)
  }
  const { commit } = file
  if (commit !== undefined) {
    const title = commit.title.slice(0, maxTitle).replace(/[\p{Cc}\u2028\u2029]/gu, "?")
    facts.push(`commit ${commit.index} of ${commit.of}, ${commit.id.slice(0, 12)}: ${title}`)
  }
  if (part !== undefined) facts.push(`part ${part.index} of ${part.of}`)
  return `=== ${shown(file.path)} (${facts.join(", ")})\n`
}

export const renderFile = (file: FileDiff, part?: { readonly index: number; readonly of: number }): string =>
  `${renderHeading(file, part)}${file.hunks.map(renderHunk).join("")}`

const renderHunk = (hunk: Hunk): string => {
  const { oldStart, oldLines, newStart, newLines, section, lines } = hunk
  const width = String(Math.max(oldStart + oldLines, newStart + newLines)).length
  const blank = " ".repeat(width)
  const rows = [`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@ ${section}`.trimEnd()]
  let oldLine = oldStart
  let newLine = newStart
  for (const line of lines) {
    const mark = line[0] ?? " "
    const old = mark === "+" ? blank : String(oldLine++).padStart(width)
    const now = mark === "-" ? blank : String(newLine++).padStart(width)
    rows.push(`${old} ${now} |${mark}${cut(line.endsWith("\r") ? line.slice(1, -1) : line.slice(1))}`)
  }
  return `${rows.join("\n")}\n`
}

const cut = (code: string): string =>
  code.length <= maxLineLength
    ? code
    : `${code.slice(0, maxLineLength)} … [${code.length - maxLineLength} more characters of this line are not shown]`
