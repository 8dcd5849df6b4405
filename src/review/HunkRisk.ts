/** How much may be wrong in a hunk, for choosing which ones are read when not all can be. Pure. */
import type { FileDiff, Hunk } from "./FileDiff.ts"
import { riskTier } from "./Risk.ts"

const sensitive =
  /\b(auth|token|secret|passw|crypt|sql|query|exec|eval|spawn|system|shell|deserial|unsafe|lock|mutex|atomic|await|async|goroutine|thread|free|malloc|close|delete|drop|truncate|transaction|commit|rollback|retry|timeout|catch|except|panic|unwrap|null|nil|undefined|overflow|parse|permission|admin|cookie|redirect|path|upload)/i

const tierWeight = [40, 24, 10, 0] as const
/** Lines looked at, and characters of each: a ranking, not a reading. */
const maxLines = 120
const maxCharacters = 240

export const hunkRisk = (file: FileDiff, hunk: Hunk): number => {
  let changed = 0
  let hits = 0
  for (const line of hunk.lines.slice(0, maxLines)) {
    if (line[0] === " ") continue
    changed++
    if (sensitive.test(line.slice(1, maxCharacters))) hits++
  }
  const more = Math.max(0, hunk.lines.length - maxLines)
  return tierWeight[riskTier(file)] + Math.min(20, hits * 3) + 4 * Math.log2(1 + changed + more)
}
