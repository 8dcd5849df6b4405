/**
 * Compression of a change that is over its limit of tokens: the hunks of highest risk are kept word for word, the others are cut,
 * to be summarised. Pure.
 */
import type { FileDiff, Hunk } from "./FileDiff.ts"
import { hunkRisk } from "./HunkRisk.ts"
import { linesIn } from "./HunkText.ts"
import { countingLength, lineTokens } from "./RenderDiff.ts"
import { riskTier } from "./Risk.ts"
import { filterInSteps, meter, sortInSteps } from "./Steps.ts"
import type { Steps } from "./Steps.ts"

export interface Compressed {
  /** Files with the hunks that are kept. */
  readonly kept: ReadonlyArray<FileDiff>
  /** Files with the hunks that are cut, the riskiest first. */
  readonly cut: ReadonlyArray<FileDiff>
}

/** Of the hunks' lines; undefined where they are more than `most`, which is where counting ends. */
export function* tokensWithin(files: ReadonlyArray<FileDiff>, most: number): Steps<number | undefined> {
  const enough = meter()
  let sum = 0
  for (const { hunks } of files) {
    for (const hunk of hunks) {
      for (const line of yield* linesIn(hunk)) {
        const tokens = lineTokens(line)
        sum += tokens
        if (sum > most) return undefined
        if (enough(countingLength(line, tokens))) yield
      }
      if (enough(0)) yield
    }
    if (enough(0)) yield
  }
  return sum
}

interface Ranked {
  readonly file: FileDiff
  readonly hunk: Hunk
  readonly risk: number
}

/** Reading the beginning of a hunk. */
const hunkLength = 1024

export function* compress(files: ReadonlyArray<FileDiff>, keepHunks: number): Steps<Compressed> {
  const enough = meter()
  const hunks: Array<Ranked> = []
  for (const file of files) {
    const tier = riskTier(file)
    for (const hunk of file.hunks) {
      hunks.push({ file, hunk, risk: hunkRisk(tier, hunk) })
      if (enough(hunkLength)) yield
    }
    if (enough(0)) yield
  }
  const ranked = yield* sortInSteps(hunks, (a, b) => b.risk - a.risk)
  const keep = new Set(ranked.slice(0, keepHunks).map(({ hunk }) => hunk))
  const byRisk = new Set<FileDiff>()
  for (let at = keepHunks; at < ranked.length; at++) {
    const one = ranked[at]
    if (one !== undefined) byRisk.add(one.file)
    if (enough(0)) yield
  }
  return {
    kept: yield* withHunks(files, (hunk) => keep.has(hunk)),
    cut: yield* withHunks(byRisk, (hunk) => !keep.has(hunk))
  }
}

function* withHunks(files: Iterable<FileDiff>, wanted: (hunk: Hunk) => boolean): Steps<ReadonlyArray<FileDiff>> {
  const enough = meter()
  const found: Array<FileDiff> = []
  for (const file of files) {
    const hunks = yield* filterInSteps(file.hunks, wanted)
    if (hunks.length > 0) found.push(hunks.length === file.hunks.length ? file : { ...file, hunks })
    if (enough(file.hunks.length)) yield
  }
  return found
}
