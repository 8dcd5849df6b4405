/**
 * Selects the part of a file's diff that is shown with one position: the hunk around it, and others nearby while there
 * is room. Pure.
 */
import type { Anchor } from "../domain/Problem.ts"
import type { FileDiff, Hunk } from "./FileDiff.ts"
import { countLines } from "./HunkText.ts"
import { maxLineLength } from "./RenderDiff.ts"

type Place = Pick<Anchor, "side" | "line">

/** Sizes of the numbers of a line, and of a heading. */
const lineOverhead = 16
const hunkOverhead = 64

/** The hunk of the place, cut to the lines around it where it is longer than `room` characters; without a place the first hunk. */
export const hunksAround = (file: FileDiff, place: Place | undefined, room: number): ReadonlyArray<Hunk> => {
  const { hunks } = file
  const middle = nearest(hunks, place)
  const hunk = hunks[middle]
  if (hunk === undefined) return []
  const shown = [partAround(hunk, place, room)]
  let left = room - hunkOverhead - sizeWithin(shown[0] ?? hunk, room)
  let from = middle
  let to = middle + 1
  for (;;) {
    const [above, below] = [hunks[from - 1], hunks[to]]
    const up = below === undefined || (above !== undefined && distance(above, place) <= distance(below, place))
    const next = up ? above : below
    if (next === undefined) return shown
    left -= hunkOverhead + sizeWithin(next, left)
    if (left <= 0) return shown
    if (up) shown.unshift(next)
    else shown.push(next)
    if (up) from--
    else to++
  }
}

const distance = ({ oldStart, oldLines, newStart, newLines }: Hunk, place: Place | undefined): number => {
  if (place === undefined) return 0
  const [start, length] = place.side === "old" ? [oldStart, oldLines] : [newStart, newLines]
  return Math.max(0, start - place.line, place.line - (start + length - 1))
}

const nearest = (hunks: ReadonlyArray<Hunk>, place: Place | undefined): number => {
  let best = 0
  let least = Number.POSITIVE_INFINITY
  for (let at = 0; at < hunks.length && least > 0; at++) {
    const hunk = hunks[at]
    const far = hunk === undefined ? least : distance(hunk, place)
    if (far < least) {
      best = at
      least = far
    }
  }
  return best
}

const sizeOf = (line: string): number => Math.min(line.length, maxLineLength) + lineOverhead

/** Returns the size of all lines, or any value above `most`. */
const sizeWithin = (hunk: Hunk, most: number): number => {
  let size = countLines(hunk) * lineOverhead
  if (size > most) return size
  size = 0
  for (const line of hunk.lines) if ((size += sizeOf(line)) > most) return size
  return size
}

const partAround = (hunk: Hunk, place: Place | undefined, room: number): Hunk => {
  const lines = hunk.lines
  let { oldStart, newStart } = hunk
  let at = 0
  const other = place?.side === "old" ? "+" : "-"
  if (place !== undefined) {
    for (; at < lines.length; at++) {
      const mark = lines[at]?.[0]
      if (mark !== other && (place.side === "old" ? oldStart : newStart) >= place.line) break
      if (mark !== "+") oldStart++
      if (mark !== "-") newStart++
    }
  }
  let left = Math.floor(room / 2)
  let from = at
  for (; from > 0; from--) {
    const line = lines[from - 1] ?? ""
    left -= sizeOf(line)
    if (left < 0) break
    if (line[0] !== "+") oldStart--
    if (line[0] !== "-") newStart--
  }
  left = Math.floor(room / 2) + Math.max(0, left)
  let to = at
  while (to < lines.length && (to === at || left > 0)) left -= sizeOf(lines[to++] ?? "")
  if (from === 0 && to === lines.length) return hunk
  const part = lines.slice(from, to)
  return {
    ...hunk,
    oldStart,
    newStart,
    oldLines: part.filter((line) => line[0] !== "+").length,
    newLines: part.filter((line) => line[0] !== "-").length,
    lines: part
  }
}
