/** Unchanged lines around a hunk: more of them from the file, or fewer. Never beyond the neighbouring hunks, never twice. Pure. */
import type { FileDiff, Hunk } from "./FileDiff.ts"

/** Lines of the head, both included, that should be seen around a hunk. */
interface ContextReach {
  readonly from: number
  readonly to: number
}

/** `count` lines on either side of what is changed; context that is more is cut. */
export const linesAround =
  (count: number) =>
  (hunk: Hunk): ContextReach => ({
    from: hunk.newStart + leading(hunk) - count,
    to: hunk.newStart + hunk.newLines - 1 - trailing(hunk) + count
  })

/**
 * Returns the hunks of `file`, a subset of those of `whole`, with the context that `reachOf` allows. `lines` are those
 * of the file at the head; without them context can only be cut.
 */
export const withContext = (
  file: FileDiff,
  whole: FileDiff,
  lines: ReadonlyArray<string> | undefined,
  reachOf: (hunk: Hunk) => ContextReach
): FileDiff => {
  const wanted = new Set(file.hunks)
  let shownTo = 0
  const hunks = whole.hunks.flatMap((hunk, index) => {
    const next = whole.hunks[index + 1]
    if (!wanted.has(hunk)) {
      shownTo = hunk.newStart + hunk.newLines - 1
      return []
    }
    const reach = reachOf(hunk)
    const last = lines === undefined ? 0 : Math.min(lastLine(lines), next === undefined ? Infinity : next.newStart - 1)
    const shown = widen(trim(hunk, reach), lines, reach, shownTo + 1, last)
    shownTo = shown.newStart + shown.newLines - 1
    return [shown]
  })
  return { ...file, hunks }
}

/** Unchanged lines at the beginning. */
export const leading = ({ lines }: Hunk): number => {
  const at = lines.findIndex((line) => line[0] !== " ")
  return at < 0 ? lines.length : at
}

const trailing = ({ lines }: Hunk): number => lines.length - 1 - lines.findLastIndex((line) => line[0] !== " ")

const trim = (hunk: Hunk, { from, to }: ContextReach): Hunk => {
  const top = Math.max(0, Math.min(leading(hunk), from - hunk.newStart))
  const bottom = Math.max(0, Math.min(trailing(hunk), hunk.newStart + hunk.newLines - 1 - to))
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
  { from, to }: ContextReach,
  first: number,
  last: number
): Hunk => {
  // A side without lines has no place of its own to count from.
  if (lines === undefined || hunk.oldLines === 0 || hunk.newLines === 0) return hunk
  const end = hunk.newStart + hunk.newLines - 1
  const atEnd = hunk.openEnd.old || hunk.openEnd.new
  const top = Math.max(0, hunk.newStart - Math.max(from, first))
  const bottom = atEnd ? 0 : Math.max(0, Math.min(to, last) - end)
  if (top + bottom === 0) return hunk
  const text = (start: number, stop: number) => lines.slice(start - 1, stop).map((line) => ` ${line}`)
  return {
    ...hunk,
    oldStart: hunk.oldStart - top,
    newStart: hunk.newStart - top,
    oldLines: hunk.oldLines + top + bottom,
    newLines: hunk.newLines + top + bottom,
    lines: [...text(hunk.newStart - top, hunk.newStart - 1), ...hunk.lines, ...text(end + 1, end + bottom)]
  }
}

/** Returns the number of the last line. A line break at the end of a file starts no line. */
const lastLine = (lines: ReadonlyArray<string>): number => (lines.at(-1) === "" ? lines.length - 1 : lines.length)
