/** When to try again: the three kinds of backoff of queue.retry.backoff and llm.retry.backoff. */

export interface Backoff {
  readonly kind: "exponential" | "linear" | "constant"
  readonly base_ms: number
  readonly max_ms: number
  readonly jitter: boolean
}

/**
 * Milliseconds to wait after `attempt` failures (1 for the first). With jitter: between half and all of it, so that failures
 * that happened together do not come back together. `random` is in [0, 1).
 */
export const backoffMillis = (backoff: Backoff, attempt: number, random: number): number => {
  const grown =
    backoff.kind === "constant"
      ? backoff.base_ms
      : backoff.kind === "linear"
        ? backoff.base_ms * attempt
        : backoff.base_ms * 2 ** Math.min(attempt - 1, 30)
  const capped = Math.min(grown, backoff.max_ms)
  return Math.round(backoff.jitter ? capped * (0.5 + random / 2) : capped)
}
