/** Work on the lines that rounds read: which round read the lines of a finding, and what is stored of the lines of this one. */
import type { Anchor } from "../../domain/Problem.ts"
import type { ReadLines } from "../../domain/Round.ts"
import { numberLines } from "../../review/FileDiff.ts"
import type { FileDiff, NumberedLine } from "../../review/FileDiff.ts"
import { firstReads, readAt } from "../../review/FirstReads.ts"
import { countLines } from "../../review/HunkText.ts"
import { markLines, toReadLines } from "../../review/LineMarks.ts"
import { maxLineLength } from "../../review/RenderDiff.ts"
import type { FitState } from "./FitState.ts"
import type { ReadState } from "./ReadState.ts"

/** Lines that earlier rounds read, with the secret of their digests. */
interface EarlierReads {
  readonly key: string
  readonly read: ReadonlyArray<ReadLines>
}

/** Place of a finding. A path that the change does not have means the whole change. */
interface FindingPlace {
  readonly path: string
  readonly anchor: Anchor | undefined
}

export interface RoundReads {
  readonly number: number
  /** Paths of files of which not every line was read. */
  readonly incomplete: ReadonlyArray<string>
  /** Paths of files with findings over the limit. */
  readonly cut: ReadonlyArray<string>
  /** Positions of the passes whose files do not count as read. */
  readonly ended: ReadonlyArray<number>
}

/** Lines that a review stores. The files with most lines are not stored, and count as not read. */
const maxStored = 20_000

interface FileReads {
  readonly marks: ReadonlyArray<string>
  readonly rounds: ReadonlyArray<number>
}

export const makeRoundWork = (state: ReadState, fit: FitState) => {
  const known = new Map<string, FileReads>()
  let records: ReadonlyMap<string, ReadLines> | undefined

  /** A renamed file continues the one whose name no file has. */
  const recordOf = ({ oldPath, path }: FileDiff, { read }: EarlierReads): ReadLines | undefined => {
    records ??= new Map(read.map((one) => [one.path, one]))
    const isFree = oldPath !== undefined && state.selected.files.every((file) => file.path !== oldPath)
    return records.get(path) ?? (isFree ? records.get(oldPath) : undefined)
  }

  const readsOf = (file: FileDiff, earlier: EarlierReads): FileReads => {
    const before = known.get(file.path)
    if (before !== undefined) return before
    const marks = markLines(file, earlier.key)
    const reads = { marks, rounds: firstReads(file, marks, recordOf(file, earlier)) }
    known.set(file.path, reads)
    return reads
  }

  const roundIn = (file: FileDiff, anchor: Anchor | undefined, earlier: EarlierReads): number =>
    recordOf(file, earlier) === undefined ? 0 : readAt(file, readsOf(file, earlier).rounds, anchor)

  const roundOf = ({ anchor, path }: FindingPlace, earlier: EarlierReads): number => {
    const { files } = state.selected
    const file = files.find((one) => one.path === path)
    if (file !== undefined) return roundIn(file, anchor, earlier)
    const changed = files.filter(({ hunks }) => hunks.length > 0)
    if (changed.some((one) => recordOf(one, earlier) === undefined)) return 0
    const rounds = changed.map((one) => roundIn(one, undefined, earlier))
    return rounds.includes(0) ? 0 : Math.max(0, ...rounds)
  }

  return {
    /** Returns for each place the first round that had read all of its lines, or 0. */
    roundsRead: (earlier: EarlierReads, places: ReadonlyArray<FindingPlace>): ReadonlyArray<number> =>
      places.map((place) => roundOf(place, earlier)),
    /** Returns what is stored of the lines that this round and earlier ones read. */
    readLines: (earlier: EarlierReads, now: RoundReads): ReadonlyArray<ReadLines> => {
      const unchanged = new Set(state.carried.unchanged.map(({ path }) => path))
      const cut = new Set(now.cut)
      const incomplete = new Set(now.incomplete)
      const isRead = (file: FileDiff): ((line: NumberedLine) => boolean) => {
        if (unchanged.has(file.path) || cut.has(file.path)) return () => false
        return incomplete.has(file.path) ? shownIn(fit, file.path, now.ended) : () => true
      }
      return smallestFirst(state.selected.files).map((file) => {
        const { marks, rounds } = readsOf(file, earlier)
        const wasShown = isRead(file)
        const lines = file.hunks.flatMap(numberLines)
        const next = lines.map((line, at) => (rounds[at] || !wasShown(line) ? (rounds[at] ?? 0) : now.number))
        return toReadLines(file.path, marks, next)
      })
    }
  }
}

const sizeOf = ({ hunks }: FileDiff): number => hunks.reduce((sum, hunk) => sum + countLines(hunk), 0)

/** Returns the files whose lines are stored. */
const smallestFirst = (files: ReadonlyArray<FileDiff>): ReadonlyArray<FileDiff> => {
  let left = maxStored
  return files
    .map((file) => ({ file, size: sizeOf(file) }))
    .filter(({ size }) => size > 0)
    .toSorted((a, b) => a.size - b.size)
    .flatMap(({ file, size }) => ((left -= size) < 0 ? [] : [file]))
}

const placeOf = ({ kind, newLine, oldLine }: NumberedLine): string => `${kind}${oldLine ?? newLine}`

/** Returns whether a pass that was completed showed a line of a file in full. A patch of a single commit has other numbers. */
const shownIn = (
  { batches }: FitState,
  path: string,
  ended: ReadonlyArray<number>
): ((line: NumberedLine) => boolean) => {
  const left = new Set(ended)
  const shown = new Set(
    batches.flatMap(({ files }, at) =>
      left.has(at)
        ? []
        : files.flatMap(({ file }) =>
            file.path === path && file.commit === undefined ? file.hunks.flatMap(numberLines).map(placeOf) : []
          )
    )
  )
  return (line) => line.text.length < maxLineLength && shown.has(placeOf(line))
}
