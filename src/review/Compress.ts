/**
 * Compression of a change that is over its token limit: the hunks of highest risk are shown verbatim, the others are
 * cut and summarised. Pure.
 */
import type { FileDiff, Hunk } from "./FileDiff.ts"
import { hunkRisk } from "./HunkRisk.ts"
import { lineTokens } from "./RenderDiff.ts"
import { riskTier } from "./Risk.ts"

export interface Compressed {
  /** Files with the hunks that are kept. */
  readonly kept: ReadonlyArray<FileDiff>
  /** Files with the hunks that are cut, the riskiest first. */
  readonly cut: ReadonlyArray<FileDiff>
}

/** Counts tokens of the hunks' lines. Stops above `most` and returns undefined then. */
export const tokensWithin = (files: ReadonlyArray<FileDiff>, most: number): number | undefined => {
  let sum = 0
  for (const { hunks } of files) {
    for (const hunk of hunks) {
      for (const line of hunk.lines) {
        const tokens = lineTokens(line)
        sum += tokens
        if (sum > most) return undefined
      }
    }
  }
  return sum
}

interface Ranked {
  readonly file: FileDiff
  readonly hunk: Hunk
  readonly risk: number
}

export const compress = (files: ReadonlyArray<FileDiff>, keepHunks: number): Compressed => {
  const hunks: Array<Ranked> = []
  for (const file of files) {
    const tier = riskTier(file)
    for (const hunk of file.hunks) {
      hunks.push({ file, hunk, risk: hunkRisk(tier, hunk) })
    }
  }
  const ranked = hunks.toSorted((a, b) => b.risk - a.risk)
  const keep = new Set(ranked.slice(0, keepHunks).map(({ hunk }) => hunk))
  const byRisk = new Set<FileDiff>()
  for (let at = keepHunks; at < ranked.length; at++) {
    const one = ranked[at]
    if (one !== undefined) byRisk.add(one.file)
  }
  return {
    kept: withHunks(files, (hunk) => keep.has(hunk)),
    cut: withHunks(byRisk, (hunk) => !keep.has(hunk))
  }
}

const withHunks = (files: Iterable<FileDiff>, wanted: (hunk: Hunk) => boolean): ReadonlyArray<FileDiff> => {
  const found: Array<FileDiff> = []
  for (const file of files) {
    const hunks = file.hunks.filter(wanted)
    if (hunks.length > 0) found.push(hunks.length === file.hunks.length ? file : { ...file, hunks })
  }
  return found
}
