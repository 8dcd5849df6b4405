/**
 * Delays between attempts: the formula of queue.retry.backoff, llm.retry.backoff and every internal retry whose attempts are counted, and the
 * schedule of those that a process repeats without counting. Pure.
 */
import { Schedule } from "effect"
import type { Duration } from "effect"

export interface BackoffPolicy {
  readonly kind: "exponential" | "linear" | "constant"
  readonly base_ms: number
  readonly max_ms: number
  readonly jitter: boolean
}

/** Returns a policy whose delay doubles from `base_ms` up to `max_ms`. */
export const doubling = (base_ms: number, max_ms: number): BackoffPolicy => ({
  kind: "exponential",
  base_ms,
  max_ms,
  jitter: false
})

/**
 * Returns the milliseconds to wait after `attempt` failures (1 for the first). Jitter removes up to half of the delay, so that attempts
 * that failed together are not repeated together. `random` is in [0, 1).
 */
export const backoffMillis = (
  { kind, base_ms, max_ms, jitter }: BackoffPolicy,
  attempt: number,
  random: number
): number => {
  const factor = { exponential: 2 ** Math.min(attempt - 1, 30), linear: attempt, constant: 1 }[kind]
  const delay = Math.min(base_ms * factor, max_ms)
  return Math.round(jitter ? delay * (1 - random / 2) : delay)
}

/** Returns a schedule of pauses that double from `first` up to `longest`, for an effect that one process repeats until it succeeds. */
export const growingPauses = (first: Duration.Input, longest: Duration.Input) =>
  Schedule.min([Schedule.exponential(first), Schedule.spaced(longest)])
