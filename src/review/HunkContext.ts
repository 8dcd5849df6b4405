/** Unchanged lines around a hunk: more of them from the file, or fewer. Never beyond the neighbouring hunks. Pure. */
import type { FileDiff, Hunk } from "./FileDiff.ts"

/**
 * The hunks of `file`, which are some of those of `whole`, with `count` lines of context on either side. `lines` are those of the
 * file at the head; without them context can only be cut.
 */
export const withContext = (
  file: FileDiff,
  whole: FileDiff,
  lines: ReadonlyArray<string> | undefined,
  count: number
): FileDiff => {
  const wanted = new Set(file.hunks)
  const hunks = whole.hunks.flatMap((hunk, index) => {
    if (!wanted.has(hunk)) return []
    const before = whole.hunks[index - 1]
    const after = whole.hunks[index + 1]
    const first = before === undefined ? 1 : before.newStart + before.newLines
    const last = after === undefined ? (lines?.length ?? 0) : after.newStart - 1
    return [widen(trim(hunk, count), lines, count, first, last)]
  })
  return { ...file, hunks }
}

const leading = ({ lines }: Hunk): number => {
  const at = lines.findIndex((line) => line[0] !== " ")
  return at < 0 ? lines.length : at
}

const trailing = ({ lines }: Hunk): number => lines.length - 1 - lines.findLastIndex((line) => line[0] !== " ")

const trim = (hunk: Hunk, count: number): Hunk => {
  const top = Math.max(0, leading(hunk) - count)
  const bottom = Math.max(0, trailing(hunk) - count)
  if (top + bottom === 0) return hunk
  return {
    ...hunk,
    oldStart: hunk.oldStart + top,
    newStart: hunk.newStart + top,
    oldLines: hunk.oldLines - top - bottom,
    newLines: hunk.newLines - top - bottom,
    lines: hunk.lines.slice(top, hunk.lines.length - bottom)
  }
}

/** `first` and `last` are the lines of the head that may be shown. */
const widen = (
  hunk: Hunk,
  lines: ReadonlyArray<string> | undefined,
  count: number,
  first: number,
  last: number
): Hunk => {
  // A side without lines has no place of its own to count from.
  if (lines === undefined || hunk.oldLines === 0 || hunk.newLines === 0) return hunk
  const end = hunk.newStart + hunk.newLines - 1
  const atEnd = hunk.openEnd.old || hunk.openEnd.new
  const top = Math.max(0, Math.min(count - leading(hunk), hunk.newStart - first))
  const bottom = atEnd ? 0 : Math.max(0, Math.min(count - trailing(hunk), lastLine(lines, last) - end))
  const text = (from: number, to: number) => lines.slice(from - 1, to).map((line) => ` ${line}`)
  return {
    ...hunk,
    oldStart: hunk.oldStart - top,
    newStart: hunk.newStart - top,
    oldLines: hunk.oldLines + top + bottom,
    newLines: hunk.newLines + top + bottom,
    lines: [...text(hunk.newStart - top, hunk.newStart - 1), ...hunk.lines, ...text(end + 1, end + bottom)]
  }
}

/** What follows the last line break of a file is no line. */
const lastLine = (lines: ReadonlyArray<string>, last: number): number =>
  lines.at(-1) === "" ? Math.min(last, lines.length - 1) : last
