/**
 * How often and how patiently one model of a chain is asked again: `llm.retry`, sharpened by `llm.per_provider_overrides`.
 * Pure; time and randomness are handed in.
 */
import type { LlmConfig } from "../config/schema/Llm.ts"

export interface RetryPolicy {
  readonly maxAttempts: number
  readonly respectRetryAfter: boolean
  readonly kind: "exponential" | "linear" | "constant"
  readonly baseMillis: number
  readonly maxMillis: number
  readonly jitter: boolean
  /** Wall clock for all attempts at one model; undefined leaves only the deadline of the call. */
  readonly giveUpMillis: number | undefined
}

/** What holds where `llm.retry` says nothing. */
export const defaultRetryPolicy: RetryPolicy = {
  maxAttempts: 3,
  respectRetryAfter: true,
  kind: "exponential",
  baseMillis: 1_000,
  maxMillis: 30_000,
  jitter: true,
  giveUpMillis: undefined
}

export const retryPolicy = (llm: LlmConfig, provider: string): RetryPolicy => {
  const { retry } = llm
  const override = llm.per_provider_overrides?.[provider]
  const giveUpSeconds = override?.give_up_after_seconds ?? retry.give_up_after_seconds
  return {
    maxAttempts: override?.max_attempts ?? retry.max_attempts ?? defaultRetryPolicy.maxAttempts,
    respectRetryAfter: retry.respect_retry_after ?? defaultRetryPolicy.respectRetryAfter,
    kind: retry.backoff?.kind ?? defaultRetryPolicy.kind,
    baseMillis: retry.backoff?.base_ms ?? defaultRetryPolicy.baseMillis,
    maxMillis: retry.backoff?.max_ms ?? defaultRetryPolicy.maxMillis,
    jitter: retry.backoff?.jitter ?? defaultRetryPolicy.jitter,
    giveUpMillis: giveUpSeconds === undefined ? undefined : giveUpSeconds * 1000
  }
}

/**
 * Milliseconds to wait after attempt number `attempt` (from 1) failed. A Retry-After is obeyed exactly and is never shortened by
 * `max_ms`; jitter takes up to half of a computed delay away, so that nodes that failed together do not come back together.
 */
export const delayMillis = (
  policy: RetryPolicy,
  attempt: number,
  retryAfterMillis: number | undefined,
  random: number
): number => {
  if (policy.respectRetryAfter && retryAfterMillis !== undefined) return retryAfterMillis
  const factor = { exponential: 2 ** Math.min(attempt - 1, 30), linear: attempt, constant: 1 }[policy.kind]
  const delay = Math.min(policy.baseMillis * factor, policy.maxMillis)
  return Math.round(policy.jitter ? delay * (1 - random / 2) : delay)
}
