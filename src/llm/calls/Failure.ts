/**
 * Classifies the failure of one attempt at one model, which determines how the chain continues. No other file reads a provider's
 * error; all callers use the closed set of `FailureKind`.
 *
 * | kind          | repeat at this model | next model | typical cause                                   |
 * |---------------|----------------------|------------|-------------------------------------------------|
 * | rate_limited  | yes                  | yes        | 429 (a spent quota is not repeated)             |
 * | unavailable   | yes                  | yes        | 408, 409, 425, 5xx, no connection, cut body     |
 * | timeout       | no                   | yes        | no response within the provider's time          |
 * | overflow      | no                   | yes        | 413, prompt longer than the context window      |
 * | refused       | no                   | yes        | refusal, content filter, 403 of a moderation    |
 * | invalid       | no                   | yes        | other 4xx                                       |
 * | budget        | no                   | yes        | a cap of llm.budget                             |
 * | unpriced      | no                   | yes        | llm.budget is set and the price is unknown      |
 * | unauthorized  | no                   | no         | 401, 403                                        |
 * | not_configured| no                   | no         | unknown model, no key, provider not in the build|
 */
import { APICallError } from "ai"
import type { Reason } from "../../domain/Reason.ts"
import { verbatimReason } from "../../domain/Reason.ts"
import { findConnectionAdvice } from "../../domain/ConnectionAdvice.ts"
import { redactCredentials } from "../../domain/RedactCredentials.ts"
import { parseRetryAfter } from "../../domain/RetryAfter.ts"
import type { GatewayError } from "../Gateway.ts"
import { NotConfigured } from "../providers/ProviderRow.ts"
import { isOverflowText } from "./OverflowText.ts"
import { exhaustedMillis } from "./RateLimitHeaders.ts"
import { ResponseTooLarge, SilentProvider } from "./Silence.ts"

type FailureKind = GatewayError["reason"]

export interface Failure {
  readonly kind: FailureKind
  /** Reason without secrets, which names neither provider nor model. */
  readonly why: Reason
  /** Next step, if the connection failed. */
  readonly advice?: Reason | undefined
  readonly repeat: boolean
  readonly next: boolean
  /** The provider limits the rate or is overloaded: the request waits and counts as no attempt. */
  readonly isThrottled: boolean
  /** The server cannot be reached, so that no request to it can succeed at the moment. */
  readonly isOutage?: boolean
  readonly retryAfterMillis: number | undefined
}

const rules: Record<FailureKind, { readonly repeat: boolean; readonly next: boolean }> = {
  rate_limited: { repeat: true, next: true },
  unavailable: { repeat: true, next: true },
  timeout: { repeat: false, next: true },
  overflow: { repeat: false, next: true },
  refused: { repeat: false, next: true },
  invalid: { repeat: false, next: true },
  budget: { repeat: false, next: true },
  unpriced: { repeat: false, next: true },
  unauthorized: { repeat: false, next: false },
  not_configured: { repeat: false, next: false }
}

export const failure = (kind: FailureKind, why: Reason, retryAfterMillis?: number): Failure => ({
  kind,
  why,
  ...rules[kind],
  isThrottled: kind === "rate_limited",
  retryAfterMillis
})

/** Returns the failure of a connection. The text is that of Node.js or a library. */
const unavailable = (text: string): Failure => {
  const advice = findConnectionAdvice(text)
  return { ...failure("unavailable", verbatimReason(text)), advice, isOutage: advice !== undefined }
}

/** Statuses of an overloaded server; 529 is that of Anthropic. */
const overloads: ReadonlySet<number> = new Set([503, 529])
/** Statuses of a proxy whose server does not respond. */
const gateways: ReadonlySet<number> = new Set([502, 504])
const quotaText = /insufficient_quota|exceeded your current quota|credit balance|billing|payment required/i
const modelText = /model/i
/** Texts of gateways that refuse what a request contains: another model may take it. */
const contentText =
  /\bmoderation\b|\bflagged\b|content[ _-]?(?:policy|filter|safety)|\bguardrails?\b|violates? (?:our|the|usage)\b/i
const keyText = /api[ _-]?key|credential|unauthenticated/i

/** Classifies an error. `secrets` are redacted from the message; provider text is truncated to 300 characters. */
export const classify = (error: unknown, secrets: ReadonlyArray<string>, now: number): Failure => {
  if (error instanceof NotConfigured) return failure("not_configured", error.why)
  const cause = error instanceof Error ? error.cause : undefined
  for (const reason of [error, cause]) {
    if (reason instanceof SilentProvider) return failure("timeout", reason.why)
    if (reason instanceof ResponseTooLarge) return failure("invalid", reason.why)
  }
  if (!APICallError.isInstance(error)) {
    const text = scrub(error instanceof Error ? error.message : String(error), secrets)
    return text === "" ? failure("unavailable", { _tag: "FailedWithoutMessage" }) : unavailable(text)
  }
  const status = error.statusCode
  const text = scrub(error.message, secrets)
  const detail = `${error.message} ${error.responseBody ?? ""}`.slice(0, 20_000)
  const retryAfter = parseRetryAfter(error.responseHeaders, now) ?? exhaustedMillis(error.responseHeaders, now)

  if (status === undefined) return unavailable(text)
  const said = (reason: Reason): Reason => ({ _tag: "HttpFailed", status, reason })
  const its = said(verbatimReason(text))
  // A 2xx response that violates the protocol: a truncated body, or the page of a proxy.
  if (status < 300) return failure("unavailable", { _tag: "UnreadableResponse", text })
  if (status < 400) return failure("not_configured", said({ _tag: "Redirected" }))
  if (status === 403 && contentText.test(detail)) return failure("refused", its)
  if (status === 401 || status === 403) return failure("unauthorized", its)
  if (status === 402 || (status === 429 && quotaText.test(detail))) {
    return {
      ...failure("rate_limited", said({ _tag: "QuotaUsedUp", text }), retryAfter),
      repeat: false,
      isThrottled: false
    }
  }
  if (status === 429) return failure("rate_limited", its, retryAfter)
  if (status === 404) return failure("not_configured", said({ _tag: "NoSuchModel", text }))
  if (status === 413) return failure("overflow", its)
  if (status === 408 || status === 409 || status === 425 || status >= 500) {
    return {
      ...failure("unavailable", its, retryAfter),
      isThrottled: overloads.has(status),
      isOutage: gateways.has(status)
    }
  }
  if (isOverflowText(detail)) return failure("overflow", its)
  if (status === 400 && keyText.test(text) && !modelText.test(text)) return failure("unauthorized", its)
  return failure("invalid", its)
}

// Redacts, in addition to the key itself, bearer tokens and key-like words that a provider or proxy may echo, and query strings.
const secretLike = /\b(sk|pk|rk|gsk|xai|ghp|gho|ghu|AIza)[-_A-Za-z0-9*]{8,}|Bearer\s+\S+|([?&](key|token)=)[^&\s]+/g

export const scrub = (text: string, secrets: ReadonlyArray<string>): string => {
  const long = secrets.filter(({ length }) => length >= 4)
  return redactCredentials(text, long).replace(secretLike, "[redacted]").replace(/\s+/g, " ").trim().slice(0, 300)
}
