/**
 * The change as a model reads it: per file a heading, per hunk its header, per line both line numbers and the mark. Numbers
 * let a model say where, marks let it see what; anchoring trusts neither and goes by quoted code.
 */
import type { FileDiff, Hunk } from "./FileDiff.ts"
import { linesIn, readLength } from "./HunkText.ts"
import { languageOf } from "./Languages.ts"
import { meter } from "./Steps.ts"
import type { Steps } from "./Steps.ts"
import { countTokens } from "./Tokens.ts"

/** Longer lines (minified code, data) are shown cut, and say so. */
export const maxLineLength = 4000

const maxTitle = 120

/** What a line costs when it is shown: its code as far as it is shown, and the numbers beside it. */
export const lineTokens = (line: string): number =>
  line.length <= maxLineLength ? countTokens(line) + 9 : countTokens(line.slice(0, maxLineLength)) + 28

/** What counting the tokens of a line takes, in characters gone over: blanks make few tokens, scripts without spaces many. */
export const countingLength = (line: string, tokens: number): number =>
  8 * tokens + 2 * Math.min(line.length, maxLineLength)

const counted = new WeakMap<ReadonlyArray<string>, Int32Array>()

/** `lineTokens` of each line of a hunk; counted once. */
export function* hunkTokens(hunk: Hunk): Steps<Int32Array> {
  const lines = yield* linesIn(hunk)
  const known = counted.get(lines)
  if (known !== undefined) return known
  const enough = meter()
  const tokens = new Int32Array(lines.length)
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ""
    const count = lineTokens(line)
    tokens[at] = count
    if (enough(countingLength(line, count))) yield
  }
  counted.set(lines, tokens)
  return tokens
}

/** Lines that are shown in part. */
export function* countCutLines(files: ReadonlyArray<FileDiff>): Steps<number> {
  return yield* countLinesOf(files, (line) => line.length > maxLineLength + 2)
}

export function* countLinesOf(files: ReadonlyArray<FileDiff>, wanted: (line: string) => boolean): Steps<number> {
  const enough = meter()
  let count = 0
  for (const { hunks } of files) {
    for (const hunk of hunks) {
      for (const line of yield* linesIn(hunk)) {
        if (wanted(line)) count++
        if (enough(0)) yield
      }
      if (enough(0)) yield
    }
    if (enough(0)) yield
  }
  return count
}

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

export function* renderFile(file: FileDiff, part?: { readonly index: number; readonly of: number }): Steps<string> {
  const enough = meter()
  const rows = [renderHeading(file, part)]
  for (const hunk of file.hunks) {
    yield* renderHunk(hunk, rows)
    if (enough(hunk.section.length)) yield
  }
  return rows.join("")
}

function* renderHunk(hunk: Hunk, rows: Array<string>): Steps<void> {
  const { oldStart, oldLines, newStart, newLines, section } = hunk
  const enough = meter()
  const width = String(Math.max(oldStart + oldLines, newStart + newLines)).length
  const blank = " ".repeat(width)
  rows.push(`${`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@ ${section}`.trimEnd()}\n`)
  let oldLine = oldStart
  let newLine = newStart
  for (const line of yield* linesIn(hunk)) {
    const mark = line[0] ?? " "
    const old = mark === "+" ? blank : String(oldLine++).padStart(width)
    const now = mark === "-" ? blank : String(newLine++).padStart(width)
    rows.push(`${old} ${now} |${mark}${cut(line.endsWith("\r") ? line.slice(1, -1) : line.slice(1))}\n`)
    if (enough(Math.min(line.length, maxLineLength))) yield
  }
}

const cut = (code: string): string => {
  if (code.length <= maxLineLength) return code
  const left = `${code.length - maxLineLength}${code.length + 1 < readLength ? "" : " or more"}`
  return `${code.slice(0, maxLineLength)} … [${left} more characters of this line are not shown]`
}
