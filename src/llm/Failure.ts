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
 * | refused       | no                   | yes        | refusal, content filter                         |
 * | invalid       | no                   | yes        | other 4xx                                       |
 * | budget        | no                   | yes        | a cap of llm.budget                             |
 * | unpriced      | no                   | yes        | llm.budget is set and the price is unknown      |
 * | unauthorized  | no                   | no         | 401, 403                                        |
 * | not_configured| no                   | no         | unknown model, no key, provider not in the build|
 */
import { APICallError } from "ai"
import { redactCredentials } from "../domain/RedactCredentials.ts"
import { parseRetryAfter } from "../domain/RetryAfter.ts"
import type { GatewayError } from "./Gateway.ts"
import { NotConfigured } from "./ProviderRow.ts"
import { exhaustedMillis } from "./RateLimitHeaders.ts"
import { ResponseTooLarge, SilentProvider } from "./Silence.ts"

export type FailureKind = GatewayError["reason"]

export interface Failure {
  readonly kind: FailureKind
  /** One line, without secrets; names neither provider nor model. */
  readonly message: string
  readonly repeat: boolean
  readonly next: boolean
  /** The provider limits the rate or is overloaded: the request waits and counts as no attempt. */
  readonly isThrottled: boolean
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

export const failure = (kind: FailureKind, message: string, retryAfterMillis?: number): Failure => ({
  kind,
  message,
  ...rules[kind],
  isThrottled: kind === "rate_limited",
  retryAfterMillis
})

const overflowText =
  /context[ _-]?(length|window|size)|maximum context|too many (input )?tokens|prompt is too long|input is too long|exceeds? the (maximum|max|model)|token (count|limit)|reduce the length|request too large/i
/** Statuses of an overloaded server; 529 is that of Anthropic. */
const overloads: ReadonlySet<number> = new Set([503, 529])
const quotaText = /insufficient_quota|exceeded your current quota|credit balance|billing|payment required/i
const modelText = /model/i
const keyText = /api[ _-]?key|credential|unauthenticated/i

/** Classifies an error. `secrets` are redacted from the message; provider text is truncated to 300 characters. */
export const classify = (error: unknown, secrets: ReadonlyArray<string>, now: number): Failure => {
  if (error instanceof NotConfigured) return failure("not_configured", scrub(error.message, secrets))
  const cause = error instanceof Error ? error.cause : undefined
  for (const reason of [error, cause]) {
    if (reason instanceof SilentProvider) return failure("timeout", reason.message)
    if (reason instanceof ResponseTooLarge) return failure("invalid", reason.message)
  }
  if (!APICallError.isInstance(error)) {
    const text = scrub(error instanceof Error ? error.message : String(error), secrets)
    return failure("unavailable", text === "" ? "the request failed without a message" : text)
  }
  const status = error.statusCode
  const text = scrub(error.message, secrets)
  const detail = `${error.message} ${error.responseBody ?? ""}`.slice(0, 20_000)
  const said = (what: string) => (status === undefined ? what : `HTTP ${status}: ${what}`)
  const retryAfter = parseRetryAfter(error.responseHeaders, now) ?? exhaustedMillis(error.responseHeaders, now)

  if (status === undefined) return failure("unavailable", text)
  // A 2xx response that violates the protocol: a truncated body, or the page of a proxy.
  if (status < 300) return failure("unavailable", `unreadable response (${text})`)
  if (status < 400) return failure("not_configured", said("a redirect; set base_url to the address it leads to"))
  if (status === 401 || status === 403) return failure("unauthorized", said(text))
  if (status === 402 || (status === 429 && quotaText.test(detail))) {
    return {
      ...failure("rate_limited", said(`quota used up (${text})`), retryAfter),
      repeat: false,
      isThrottled: false
    }
  }
  if (status === 429) return failure("rate_limited", said(text), retryAfter)
  if (status === 404) return failure("not_configured", said(`no such model or address (${text})`))
  if (status === 413) return failure("overflow", said(text))
  if (status === 408 || status === 409 || status === 425 || status >= 500) {
    return { ...failure("unavailable", said(text), retryAfter), isThrottled: overloads.has(status) }
  }
  if (overflowText.test(detail)) return failure("overflow", said(text))
  if (status === 400 && keyText.test(text) && !modelText.test(text)) return failure("unauthorized", said(text))
  return failure("invalid", said(text))
}

// Redacts, in addition to the key itself, bearer tokens and key-like words that a provider or proxy may echo, and query strings.
const secretLike = /\b(sk|pk|rk|gsk|xai|ghp|gho|ghu|AIza)[-_A-Za-z0-9*]{8,}|Bearer\s+\S+|([?&](key|token)=)[^&\s]+/g

export const scrub = (text: string, secrets: ReadonlyArray<string>): string => {
  const long = secrets.filter(({ length }) => length >= 4)
  return redactCredentials(text, long).replace(secretLike, "[redacted]").replace(/\s+/g, " ").trim().slice(0, 300)
}
