/**
 * Computes when the next request to a provider may start: by its rate, with a burst of one second's worth, and after the pauses
 * that it requested. Pure: every method receives the time.
 */

import type { PauseCause } from "../ProviderStates.ts"

/** Interval between requests after a pause without a configured rate, so that they do not all cause the same refusal again. */
const afterPauseMillis = 100
/** Upper bound of a pause, whatever a provider requests; the retry policy of each call decides whether it still waits. */
const maxPauseMillis = 15 * 60_000

export class StartRate {
  /** Interval between two requests; undefined without a rate. */
  #intervalMillis: number | undefined
  /** The theoretical time of the next request (GCRA): one number instead of a bucket that is refilled. */
  #nextAt = 0
  #pausedUntil = 0
  #cause: PauseCause = "requested"

  /** Requests per second; undefined for no limit. */
  set(rps: number | undefined): void {
    this.#intervalMillis = rps === undefined ? undefined : 1000 / rps
  }

  startAt(): number {
    const burstMillis = this.#intervalMillis === undefined ? 0 : Math.max(0, 1000 - this.#intervalMillis)
    return Math.max(this.#pausedUntil, this.#nextAt - burstMillis)
  }

  started(now: number, othersWait: boolean): void {
    if (this.#intervalMillis !== undefined) this.#nextAt = Math.max(this.#nextAt, now) + this.#intervalMillis
    else this.#nextAt = othersWait ? now + afterPauseMillis : 0
  }

  /** A shorter pause than the one under way changes nothing. */
  pause(millis: number, now: number, cause: PauseCause): void {
    const until = now + Math.min(millis, maxPauseMillis)
    if (until <= this.#pausedUntil) return
    this.#pausedUntil = until
    this.#cause = cause
  }

  resume(): void {
    this.#pausedUntil = 0
  }

  findPause(now: number): { readonly until: number; readonly cause: PauseCause } | undefined {
    return this.#pausedUntil <= now ? undefined : { until: Math.ceil(this.#pausedUntil), cause: this.#cause }
  }

  /** The rest of the pause. */
  pauseMillis(now: number): number {
    return Math.max(0, this.#pausedUntil - now)
  }
}
