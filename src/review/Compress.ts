/**
 * Compression of a change that is larger than all of its passes: the hunks of highest risk are shown verbatim, then whole files
 * in the order of their riskiest hunk, until the passes are full. The others are cut and summarised. Pure.
 */
import { splitHunk } from "./Batches.ts"
import type { FileDiff, Hunk } from "./FileDiff.ts"
import { toBytes, countLines, firstLines } from "./HunkText.ts"
import { hunkTokens, minLineTokens, numberTokens } from "./RenderDiff.ts"
import { riskTier } from "./Risk.ts"
import type { RiskTier } from "./Risk.ts"

/** Ranks hunks by how much may be wrong in them, to choose which ones are read when not all can be. Pure. */

/** Beginnings of words. */
const sensitive =
  /\b(?:auth|token|secret|passw|crypt|sql|query|exec|eval|spawn|system|shell|deserial|unsafe|lock|mutex|atomic|await|async|goroutine|thread|free|malloc|close|delete|drop|truncate|transaction|commit|rollback|retry|timeout|catch|except|panic|unwrap|null|nil|undefined|overflow|parse|permission|admin|cookie|redirect|path|upload)/i

const tierWeight = [40, 24, 10, 0] as const
/** Lines that are searched, and the bytes of them all and characters of each: a ranking, not a reading. */
const maxLines = 48
const maxBytes = 64 * 1024
const maxColumns = 160
const hitWeight = 3
const maxHitWeight = 20

/** Runs for every hunk of a change. `tier` is that of the file. */
export const hunkRisk = (tier: RiskTier, hunk: Hunk): number => {
  let changed = 0
  let weight = 0
  for (const line of firstLines(hunk, maxLines, maxBytes)) {
    if (line[0] === " ") continue
    changed++
    // The search is the slowest part, so it stops when more hits cannot change the result.
    if (weight < maxHitWeight && sensitive.test(line.slice(1, maxColumns))) weight += hitWeight
  }
  const more = Math.max(0, countLines(hunk) - maxLines)
  return tierWeight[tier] + Math.min(maxHitWeight, weight) + 4 * Math.log2(1 + changed + more)
}

interface Compressed {
  /** Files with the hunks that are kept. */
  readonly kept: ReadonlyArray<FileDiff>
  /** Files with the hunks that are cut, the riskiest first. */
  readonly cut: ReadonlyArray<FileDiff>
}

/** Tokens of a heading and of the header of a hunk, without names. */
const headingTokens = 40
const headerTokens = 24

/** Returns a lower bound of the tokens of the files. Decodes no line. */
const minTokens = (files: ReadonlyArray<FileDiff>): number => {
  let sum = 0
  for (const { hunks } of files) {
    sum += headingTokens
    for (const hunk of hunks) sum += headerTokens + minLineTokens * countLines(hunk)
  }
  return sum
}

/** Counts the tokens of the files; returns undefined above `most`, without counting where there are too many lines. */
export const tokensWithin = (files: ReadonlyArray<FileDiff>, most: number): number | undefined => {
  if (minTokens(files) > most) return undefined
  let sum = 0
  for (const { hunks } of files) {
    sum += headingTokens
    for (const hunk of hunks) {
      sum += headerTokens
      for (const tokens of hunkTokens(hunk)) sum += tokens
      if (sum > most) return undefined
    }
  }
  return sum
}

/** Estimates the tokens of a hunk from its bytes: counting those of a change that is not read would take long. */
const estimate = (hunk: Hunk): number =>
  headerTokens +
  Math.ceil(toBytes(hunk).reduce((sum, { length }) => sum + length, 0) / 3) +
  numberTokens * countLines(hunk)

export interface RankedHunk {
  readonly file: FileDiff
  readonly hunk: Hunk
  readonly risk: number
  readonly tokens: number
}

/** Keeps the `keepHunks` hunks of highest risk, and whole files, as far as they fit into `room` tokens. */
export const compress = (
  files: ReadonlyArray<FileDiff>,
  keepHunks: number,
  room: number,
  ranked = rankHunks(files)
): Compressed => {
  const keep = new Set<Hunk>()
  let left = room
  const take = (hunks: ReadonlyArray<RankedHunk>) => {
    const tokens = hunks.reduce((sum, one) => sum + one.tokens, hunks.length === 0 ? 0 : headingTokens)
    if (tokens > left) return
    left -= tokens
    for (const { hunk } of hunks) keep.add(hunk)
  }
  for (const one of ranked.slice(0, keepHunks)) take([one])
  const byFile = Map.groupBy(ranked, ({ file }) => file)
  for (const hunks of byFile.values()) take(hunks.filter(({ hunk }) => !keep.has(hunk)))
  const [first] = ranked
  if (keep.size === 0 && first !== undefined) return beginning(files, first, room)
  return withHunks(files, ranked, (hunk) => keep.has(hunk))
}

/** Returns all hunks, those of highest risk first. */
export const rankHunks = (files: ReadonlyArray<FileDiff>): ReadonlyArray<RankedHunk> => {
  const hunks: Array<RankedHunk> = []
  for (const file of files) {
    const tier = riskTier(file)
    for (const hunk of file.hunks) {
      hunks.push({ file, hunk, risk: hunkRisk(tier, hunk), tokens: estimate(hunk) })
    }
  }
  return hunks.toSorted((a, b) => b.risk - a.risk)
}

const withHunks = (
  files: ReadonlyArray<FileDiff>,
  ranked: ReadonlyArray<RankedHunk>,
  isKept: (hunk: Hunk) => boolean
): Compressed => {
  const byRisk = new Set(ranked.flatMap(({ file, hunk }) => (isKept(hunk) ? [] : [file])))
  return { kept: select(files, isKept), cut: select(byRisk, (hunk) => !isKept(hunk)) }
}

/** Keeps the first lines of the riskiest hunk where no hunk fits as a whole. */
const beginning = (files: ReadonlyArray<FileDiff>, { file, hunk }: RankedHunk, room: number): Compressed => {
  const [first, ...rest] = splitHunk(hunk, Math.max(1, room - headingTokens))
  const cut = select(files, (other) => other !== hunk)
  return {
    kept: first === undefined ? [] : [{ ...file, hunks: [first.hunk] }],
    cut: [...(rest.length === 0 ? [] : [{ ...file, hunks: rest.map((part) => part.hunk) }]), ...cut]
  }
}

const select = (files: Iterable<FileDiff>, wanted: (hunk: Hunk) => boolean): ReadonlyArray<FileDiff> => {
  const found: Array<FileDiff> = []
  for (const file of files) {
    const hunks = file.hunks.filter(wanted)
    if (hunks.length > 0) found.push(hunks.length === file.hunks.length ? file : { ...file, hunks })
  }
  return found
}
