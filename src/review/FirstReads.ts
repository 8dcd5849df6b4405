/**
 * The first round that read each line of a patch, from what earlier reviews stored about the patch of the same file. A line that changed, that
 * moved, or next to which lines were removed was read by none. Pure.
 */
import type { ReadLines } from "../domain/Round.ts"
import type { Anchor } from "../domain/Problem.ts"
import { alignLines } from "./AlignLines.ts"
import { squeeze, weight } from "./CodeText.ts"
import { numberLines } from "./FileDiff.ts"
import type { FileDiff } from "./FileDiff.ts"
import { storedMarks, storedRounds } from "./LineMarks.ts"

/** Letters and digits that make a line recognisable, and the length within which they are counted. */
const minWeight = 4
const maxWeighed = 200

/** Returns the first round that read each line of the hunks, in order; 0 for a line that none read. */
export const firstReads = (
  file: FileDiff,
  marks: ReadonlyArray<string>,
  earlier: ReadLines | undefined
): ReadonlyArray<number> => {
  if (earlier === undefined) return marks.map(() => 0)
  const before = storedMarks(earlier)
  const rounds = storedRounds(earlier)
  const lines = file.hunks.flatMap((hunk) => hunk.lines)
  const found = alignLines(before, marks, (at) => weight(squeeze((lines[at] ?? "").slice(1, maxWeighed))) >= minWeight)
  const reads = Array.from(found, (at) => (at < 0 ? 0 : (rounds[at] ?? 0)))
  for (const at of nextToRemoved(file, found)) reads[at] = 0
  return reads
}

/** Returns the positions of the lines between which the earlier patch had others. */
const nextToRemoved = ({ hunks }: FileDiff, found: Int32Array): ReadonlyArray<number> => {
  const beside: Array<number> = []
  let start = 0
  for (const { lines } of hunks) {
    for (let at = start + 1; at < start + lines.length; at++) {
      const [above = -1, here = -1] = [found[at - 1], found[at]]
      if (above >= 0 && here > above + 1) beside.push(at - 1, at)
    }
    start += lines.length
  }
  return beside
}

/** Returns the first round that had read all of these lines; 0 if one is missing or none read it. */
const readAll = (reads: ReadonlyArray<number>): number =>
  reads.length === 0 || reads.includes(0) ? 0 : reads.reduce((latest, round) => Math.max(latest, round), 0)

/** Returns the first round that had read all lines of a place; without a place all lines of the file. */
export const readAt = (file: FileDiff, reads: ReadonlyArray<number>, anchor: Anchor | undefined): number => {
  if (anchor === undefined) return readAll(reads)
  const { line, side, start = line } = anchor
  const numbers = file.hunks.flatMap(numberLines).map(({ newLine, oldLine }) => (side === "new" ? newLine : oldLine))
  return readAll(reads.filter((_, at) => (numbers[at] ?? 0) >= start && (numbers[at] ?? 0) <= line))
}
