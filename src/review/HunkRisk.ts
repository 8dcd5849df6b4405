/** Ranks hunks by how much may be wrong in them, to choose which ones are read when not all can be. Pure. */
import type { Hunk } from "./FileDiff.ts"
import { countLines, firstLines } from "./HunkText.ts"
import type { RiskTier } from "./Risk.ts"

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
