/**
 * The first round that read each line of a patch, from what earlier reviews stored about the patch of the same file. A line that changed, that
 * moved, or next to which lines were removed was read by none. Pure.
 */
import type { ReadLines } from "../domain/Round.ts"
import type { Anchor } from "../domain/Problem.ts"
import { squeeze, weight } from "./CodeText.ts"
import { numberLines } from "./FileDiff.ts"
import type { FileDiff } from "./FileDiff.ts"
import { storedMarks, storedRounds } from "./LineMarks.ts"

/** Parts between aligned lines are aligned again as often as this. */
const maxDepth = 8
/** Lines that a moved line passes and that count as changed; of longer parts the order of the rest is the same. */
const maxPassed = 5

interface Part {
  readonly before: readonly [from: number, to: number]
  readonly now: readonly [from: number, to: number]
  readonly depth: number
}

interface Pair {
  readonly before: number
  readonly now: number
}

/**
 * Finds the lines of a patch that an earlier patch of the same file has at the same place, as a comparison of both texts by lines does: those
 * that occur once in both and keep their order, and the equal ones next to them. A line that moved has changed, and so have the few lines
 * that it passed. In doubt a line has changed. Takes time proportional to the number of lines, but for sorting. Pure.
 *
 * Returns for each line of `now` the position of the same line in `before`, or -1. `isWeighty`: whether a line of `now` has
 * enough text to be recognised elsewhere.
 */
export const alignLines = (
  before: ReadonlyArray<string>,
  now: ReadonlyArray<string>,
  isWeighty: (at: number) => boolean
): Int32Array => {
  const found = new Int32Array(now.length).fill(-1)
  const open: Array<Part> = [{ before: [0, before.length], now: [0, now.length], depth: 0 }]
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    const rest = trim(part, before, now, found)
    if (rest !== undefined) open.push(...split(rest, before, now, found))
  }
  excludePassed(before, now, found, isWeighty)
  return found
}

/** Aligns equal lines at both ends, and returns what remains of both sides; undefined if a side is empty. */
const trim = (
  { before: [b0, b1], depth, now: [n0, n1] }: Part,
  before: ReadonlyArray<string>,
  now: ReadonlyArray<string>,
  found: Int32Array
): Part | undefined => {
  let [from, start, to, end] = [b0, n0, b1, n1]
  while (from < to && start < end && before[from] === now[start]) found[start++] = from++
  while (from < to && start < end && before[to - 1] === now[end - 1]) found[--end] = --to
  return from < to && start < end && depth < maxDepth ? { before: [from, to], now: [start, end], depth } : undefined
}

/** Aligns the lines that occur once on each side and keep their order, and returns the parts between them. */
const split = (
  part: Part,
  before: ReadonlyArray<string>,
  now: ReadonlyArray<string>,
  found: Int32Array
): ReadonlyArray<Part> => {
  const anchors = longestOrdered(uniquePairs(part, before, now))
  if (anchors.length === 0) return []
  const parts: Array<Part> = []
  let [from, start] = [part.before[0], part.now[0]]
  for (const pair of anchors) {
    found[pair.now] = pair.before
    parts.push({ before: [from, pair.before], now: [start, pair.now], depth: part.depth + 1 })
    from = pair.before + 1
    start = pair.now + 1
  }
  parts.push({ before: [from, part.before[1]], now: [start, part.now[1]], depth: part.depth + 1 })
  return parts
}

/** Returns the position of each line that occurs once in a range. */
const onceIn = (lines: ReadonlyArray<string>, [from, to]: Part["now"]): ReadonlyMap<string, number> => {
  const once = new Map<string, number>()
  for (let at = from; at < to; at++) {
    const line = lines[at] ?? ""
    once.set(line, once.has(line) ? -1 : at)
  }
  return once
}

/** Returns the lines that occur once on each side, in their order in `now`. */
const uniquePairs = (part: Part, before: ReadonlyArray<string>, now: ReadonlyArray<string>): ReadonlyArray<Pair> => {
  const earlier = onceIn(before, part.before)
  return [...onceIn(now, part.now)].flatMap(([line, at]) => {
    const other = earlier.get(line) ?? -1
    return at < 0 || other < 0 ? [] : [{ before: other, now: at }]
  })
}

/** Returns the longest selection of pairs whose positions in `before` increase too. */
const longestOrdered = (pairs: ReadonlyArray<Pair>): ReadonlyArray<Pair> => {
  /** Position of the pair that ends the selection of each length lowest. */
  const ends: Array<number> = []
  const previous = new Int32Array(pairs.length).fill(-1)
  for (const [at, pair] of pairs.entries()) {
    const length = countBelow(ends.length, (index) => (pairs[ends[index] ?? 0]?.before ?? 0) < pair.before)
    previous[at] = ends[length - 1] ?? -1
    ends[length] = at
  }
  const selected: Array<Pair> = []
  for (let at = ends.at(-1) ?? -1; at >= 0; at = previous[at] ?? -1) {
    const pair = pairs[at]
    if (pair !== undefined) selected.push(pair)
  }
  return selected.toReversed()
}

/** Returns how many of the first items a predicate is true for, which is true for none after the first false. */
const countBelow = (count: number, isBelow: (index: number) => boolean): number => {
  let [low, high] = [0, count]
  while (low < high) {
    const middle = (low + high) >> 1
    if (isBelow(middle)) low = middle + 1
    else high = middle
  }
  return low
}

/** The order of a moved line and of those that it passed is another one, whichever of them counts as moved. */
const excludePassed = (
  before: ReadonlyArray<string>,
  now: ReadonlyArray<string>,
  found: Int32Array,
  isWeighty: (at: number) => boolean
): void => {
  const aligned: Array<Pair> = []
  const taken = new Set<number>()
  for (const [at, other] of found.entries()) {
    if (other < 0) continue
    aligned.push({ before: other, now: at })
    taken.add(other)
  }
  if (aligned.length === now.length) return
  const left = new Map<string, number>()
  for (const [at, line] of before.entries()) if (!taken.has(at)) left.set(line, at)
  for (const [at, line] of now.entries()) {
    const origin = found[at] === -1 && isWeighty(at) ? left.get(line) : undefined
    if (origin === undefined) continue
    const above = countBelow(aligned.length, (index) => (aligned[index]?.now ?? 0) < at)
    const below = countBelow(aligned.length, (index) => (aligned[index]?.before ?? 0) < origin)
    if (Math.abs(above - below) > maxPassed) continue
    for (const pair of aligned.slice(Math.min(above, below), Math.max(above, below))) found[pair.now] = -1
  }
}

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
  const atGaps: Array<number> = []
  let start = 0
  for (const { lines } of hunks) {
    for (let at = start + 1; at < start + lines.length; at++) {
      const [above = -1, here = -1] = [found[at - 1], found[at]]
      if (above >= 0 && here > above + 1) atGaps.push(at - 1, at)
    }
    start += lines.length
  }
  return atGaps
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
