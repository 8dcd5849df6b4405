/**
 * Decides when a long connection that ended is opened again. A connection that another one replaced is opened once more, because a node that
 * lost the ownership may have opened the other one late; if it is replaced again within an hour, another program uses the same bot, and the
 * connection remains closed. Pure.
 */
import type { ChatSessionEnd, ReconnectPacing } from "./ChatSession.ts"

export interface EndedSession {
  readonly reason: ChatSessionEnd["reason"]
  /** Attempts since the connection was last ready, this one included. */
  readonly failures: number
  readonly wasReady: boolean
  /** Time since the previous replacement; undefined if there was none. */
  readonly kickedBeforeMillis: number | undefined
  readonly pacing: ReconnectPacing | undefined
}

const defaultPacing: ReconnectPacing = { firstMillis: 1000, intervalMillis: 60_000 }
const kickedPauseMillis = 60_000
const refusedPauseMillis = 30_000
const maxRefusedMillis = 10 * 60_000
const limitedPauseMillis = 60_000
const kickedAgainMillis = 60 * 60_000

/** Returns milliseconds, or undefined to remain closed. `random` is in [0, 1). */
export const nextConnect = (
  { failures, kickedBeforeMillis, pacing = defaultPacing, reason, wasReady }: EndedSession,
  random: number
): number | undefined => {
  const jitter = 0.5 + random / 2
  const growth = 2 ** Math.min(failures - 1, 16)
  if (reason === "kicked")
    return kickedBeforeMillis !== undefined && kickedBeforeMillis < kickedAgainMillis
      ? undefined
      : kickedPauseMillis * (1 + random)
  if (reason === "refused") return Math.min(maxRefusedMillis, refusedPauseMillis * growth) * jitter
  if (reason === "limited") return Math.min(maxRefusedMillis, limitedPauseMillis * growth) * jitter
  return wasReady ? pacing.firstMillis * random : Math.min(pacing.intervalMillis, 1000 * growth) * jitter
}
