/**
 * Finds quoted lines in one side of a file's diff. Blank lines are ignored, and a match lies within one hunk. Scans the
 * lines without an index: changes are large, and quotes are few. Pure.
 */
import { isBlank, isSqueezed, squeeze } from "./CodeText.ts"
import type { FileDiff, NumberedLine } from "./FileDiff.ts"

type QuoteSide = "new" | "old"

/** A line with its position in the counters of both sides, including the side that does not contain it. */
export interface MatchedLine extends NumberedLine {
  readonly at: { readonly old: number; readonly new: number }
}

/** Lines of a match, first to last, blank ones between them included. */
export type Match = ReadonlyArray<MatchedLine>

type SameLine = (line: string, quoted: number) => boolean

/** Finds consecutive lines that equal the squeezed lines. */
export const findLines = (file: FileDiff, side: QuoteSide, squeezed: ReadonlyArray<string>): ReadonlyArray<Match> =>
  search(file, side, squeezed.length, (line, quoted) => isSqueezed(line, 1, squeezed[quoted] ?? ""))

/** Likewise, but the first line may begin and the last may end within a line of the file. */
export const findPart = (
  file: FileDiff,
  side: QuoteSide,
  quote: { readonly lines: ReadonlyArray<string>; readonly squeezed: ReadonlyArray<string> }
): ReadonlyArray<Match> => {
  const last = quote.squeezed.length - 1
  // Cheap to ask of every line; a line without it cannot hold the quote's first line.
  const [word = ""] = (quote.lines[0] ?? "").split(/\s+/).toSorted((a, b) => b.length - a.length)
  return search(file, side, last + 1, (line, quoted) => {
    if (quoted === 0 && !line.includes(word)) return false
    const whole = squeeze(line.slice(1))
    const text = quote.squeezed[quoted] ?? ""
    if (last === 0) return whole.includes(text)
    if (quoted === 0) return whole.endsWith(text)
    return quoted === last ? whole.startsWith(text) : whole === text
  })
}

const search = (file: FileDiff, side: QuoteSide, length: number, same: SameLine): ReadonlyArray<Match> => {
  const other = side === "new" ? "-" : "+"
  const found: Array<Match> = []
  let held = 0
  if (length === 0) return found
  for (const hunk of file.hunks) {
    let { oldStart: oldLine, newStart: newLine } = hunk
    const lines = hunk.lines
    for (let at = 0; at < lines.length; at++) {
      const line = lines[at] ?? ""
      const mark = line[0]
      if (mark !== other && !isBlank(line, 1) && same(line, 0)) {
        const match = matchFrom(lines, at, { oldLine, newLine }, other, length, same)
        held += match?.length ?? 0
        if (held > most) return []
        if (match !== undefined) found.push(match)
      }
      if (mark !== "+") oldLine++
      if (mark !== "-") newLine++
    }
  }
  return found
}

/** Maximum number of lines in all matches. A quote above it identifies no position. */
const most = 20_000

const matchFrom = (
  lines: ReadonlyArray<string>,
  start: number,
  numbers: { readonly oldLine: number; readonly newLine: number },
  other: string,
  length: number,
  same: SameLine
): Match | undefined => {
  const match: Array<MatchedLine> = []
  let { oldLine, newLine } = numbers
  let quoted = 0
  for (let at = start; at < lines.length; at++) {
    const line = lines[at] ?? ""
    const kind = line[0] === "+" ? "+" : line[0] === "-" ? "-" : " "
    if (kind !== other) {
      const blank = isBlank(line, 1)
      if (!blank && !same(line, quoted)) return undefined
      match.push({
        kind,
        text: line.endsWith("\r") ? line.slice(1, -1) : line.slice(1),
        oldLine: kind === "+" ? undefined : oldLine,
        newLine: kind === "-" ? undefined : newLine,
        at: { old: oldLine, new: newLine }
      })
      if (!blank && ++quoted === length) return match
    }
    if (kind !== "+") oldLine++
    if (kind !== "-") newLine++
  }
  return undefined
}
