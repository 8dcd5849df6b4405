/**
 * Compression of a change that is over its limit of tokens: the hunks of highest risk are kept word for word, the others are cut,
 * to be summarised. Generators, for changes are large: they yield after every few thousand lines. Pure.
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

const linesPerTurn = 512

/** Of the hunks' lines; undefined where they are more than `most`, which is where counting ends. */
export function* tokensWithin(files: ReadonlyArray<FileDiff>, most: number): Generator<void, number | undefined, void> {
  let sum = 0
  let lines = 0
  for (const { hunks } of files) {
    for (const hunk of hunks) {
      for (const line of hunk.lines) {
        sum += lineTokens(line)
        if (sum > most) return undefined
        if (++lines % linesPerTurn === 0) yield
      }
    }
  }
  return sum
}

export function* compress(files: ReadonlyArray<FileDiff>, keepHunks: number): Generator<void, Compressed, void> {
  const ranked: Array<{ readonly file: FileDiff; readonly hunk: Hunk; readonly risk: number }> = []
  for (const file of files) {
    const tier = riskTier(file)
    for (const hunk of file.hunks) {
      ranked.push({ file, hunk, risk: hunkRisk(tier, hunk) })
      if (ranked.length % 64 === 0) yield
    }
  }
  ranked.sort((a, b) => b.risk - a.risk)
  const keep = new Set(ranked.slice(0, keepHunks).map(({ hunk }) => hunk))
  const kept = files.flatMap((file) => withHunks(file, (hunk) => keep.has(hunk)))
  const byRisk = new Set(ranked.slice(keepHunks).map(({ file }) => file))
  return { kept, cut: [...byRisk].flatMap((file) => withHunks(file, (hunk) => !keep.has(hunk))) }
}

const withHunks = (file: FileDiff, wanted: (hunk: Hunk) => boolean): ReadonlyArray<FileDiff> => {
  const hunks = file.hunks.filter(wanted)
  if (hunks.length === 0) return []
  return [hunks.length === file.hunks.length ? file : { ...file, hunks }]
}
