/** Decides whether a review waits for the CI runs of its head. Pure. */
import type { Reason } from "../../src/domain/Reason.ts"

/** State of the CI runs of a commit. */
export type CiProgress =
  | { readonly _tag: "Known"; readonly runs: number; readonly ended: number }
  /** The host did not respond, and may later. */
  | { readonly _tag: "Unknown" }
  /** The host refuses, and will again. */
  | { readonly _tag: "Unreadable" }

/** Time in which a host makes the runs of a commit that was just pushed. */
const startMillis = 60_000
const shortestDelay = 5_000
const longestDelay = 60_000

/**
 * Returns the time of the next attempt in milliseconds since the epoch, or undefined where the review does not wait (any longer). `since` is
 * the first attempt. `random` is in [0, 1): a delay is a quarter of the time so far, plus or minus a quarter.
 */
export const decideCiWait = (wait: {
  readonly since: number
  readonly now: number
  readonly waitMinutes: number
  readonly progress: CiProgress
  readonly random: number
}): number | undefined => {
  const { now, progress, random, since, waitMinutes } = wait
  const end = since + waitMinutes * 60_000
  if (now >= end || hasEnded(progress, now - since)) return undefined
  const delay = Math.min(Math.max(shortestDelay, (now - since) / 4), longestDelay) * (0.75 + random / 2)
  return Math.min(Math.round(now + delay), end)
}

const hasEnded = (progress: CiProgress, lasted: number): boolean => {
  if (progress._tag !== "Known") return progress._tag === "Unreadable"
  return progress.runs === 0 ? lasted >= startMillis : progress.ended === progress.runs
}

/** Returns the notice about runs that are not read, or not completely; undefined where all have ended. */
export const describeCiRuns = (progress: CiProgress, waitMinutes: number): Reason | undefined => {
  if (progress._tag !== "Known") return undefined
  const { ended, runs } = progress
  if (runs === 0) return { _tag: "CiWithoutRun" }
  if (ended === runs) return undefined
  const waited = waitMinutes === 0 ? {} : { minutes: waitMinutes }
  return { _tag: "CiRunning", count: runs - ended, total: runs, ...waited }
}
