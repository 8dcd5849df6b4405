/**
 * Retry policy for one model of a chain: `llm.retry`, overridden by `llm.per_provider_overrides`. Pure; time and randomness are
 * arguments.
 */
import { retryDefaults } from "../../config/schema/Llm.ts"
import type { LlmConfig } from "../../config/schema/Llm.ts"
import { backoffMillis } from "../../domain/Backoff.ts"
import type { BackoffPolicy } from "../../domain/Backoff.ts"

export interface RetryPolicy {
  readonly maxAttempts: number
  /** Whether a refusal (429, 503, 529) is an attempt, with the waits of `backoff`. Else the limiter decides when the request is sent again. */
  readonly countsRefusals: boolean
  readonly respectRetryAfter: boolean
  readonly backoff: BackoffPolicy
  /** Maximum time for all attempts at one model, waits and silence included; undefined: only the deadline of the call applies. */
  readonly giveUpMillis: number | undefined
}

/** Applies where `llm.retry` has no value. */
export const defaultRetryPolicy: RetryPolicy = {
  maxAttempts: retryDefaults.max_attempts,
  countsRefusals: false,
  respectRetryAfter: retryDefaults.respect_retry_after,
  backoff: retryDefaults.backoff,
  giveUpMillis: undefined
}

export const retryPolicy = (llm: LlmConfig, provider: string): RetryPolicy => {
  const { retry } = llm
  const override = llm.per_provider_overrides?.[provider]
  const maxAttempts = override?.max_attempts ?? retry.max_attempts
  const giveUpSeconds = override?.give_up_after_seconds ?? retry.give_up_after_seconds
  const { kind, base_ms, max_ms, jitter } = defaultRetryPolicy.backoff
  return {
    maxAttempts: maxAttempts ?? defaultRetryPolicy.maxAttempts,
    countsRefusals: maxAttempts !== undefined,
    respectRetryAfter: retry.respect_retry_after ?? defaultRetryPolicy.respectRetryAfter,
    backoff: {
      kind: retry.backoff?.kind ?? kind,
      base_ms: retry.backoff?.base_ms ?? base_ms,
      max_ms: retry.backoff?.max_ms ?? max_ms,
      jitter: retry.backoff?.jitter ?? jitter
    },
    giveUpMillis: giveUpSeconds === undefined ? undefined : giveUpSeconds * 1000
  }
}

/**
 * Returns the milliseconds to wait after attempt number `attempt` (from 1) failed. A Retry-After is used exactly and is never
 * shortened by `max_ms`.
 */
export const retryDelayMillis = (
  policy: RetryPolicy,
  attempt: number,
  retryAfterMillis: number | undefined,
  random: number
): number =>
  policy.respectRetryAfter && retryAfterMillis !== undefined
    ? retryAfterMillis
    : backoffMillis(policy.backoff, attempt, random)
