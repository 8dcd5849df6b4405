/**
 * Converts responses of hosts, and missing responses, to a `ForgeError`; no other file does. Pure. Host text is truncated and
 * every known secret in it is redacted, because these messages appear in records, logs and the dashboard.
 */
import { findConnectionAdvice } from "../domain/ConnectionAdvice.ts"
import { verbatimReason } from "../domain/Reason.ts"
import type { Reason } from "../domain/Reason.ts"
import { millisUntil, parseRetryAfter } from "../domain/RetryAfter.ts"
import { redactCredentials } from "../domain/RedactCredentials.ts"
import { ForgeError } from "./ForgeError.ts"
import { means } from "./http/HostWords.ts"

export interface HostResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
}

export const flatHeaders = (
  headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
): HostResponse["headers"] =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === "object" ? value.join(", ") : value])
  )

/** Next steps of an operator by the reason of a failure, and for a response that is not the host's. */
export type Advice = Partial<Record<ForgeError["reason"] | "unreadable", Reason>>

/** Description of a request for error messages; without anything secret apart from `secrets`. */
export interface HostRequest {
  readonly operation: string
  readonly writes: boolean
  readonly secrets: ReadonlyArray<string>
  readonly now: number
  /** Takes the place of the advice for a git host. */
  readonly advice?: Advice | undefined
}

const maxQuoteLength = 300

/** Maximum size of a response. */
export const maxResponseMebibytes = 16

/** A response was larger. */
export class OversizedBody extends Error {}

/** Wait for a host that limits requests without a duration. GitHub documents one minute for its secondary limits. */
const defaultWaitMillis = 60_000

/** Returns the wait in milliseconds from `now`: from `Retry-After`, else until an exhausted quota is reset. */
export const retryAfter = (headers: HostResponse["headers"], now: number): number | undefined => {
  const wait = parseRetryAfter(headers, now)
  if (wait !== undefined) return wait
  const remaining = headers["x-ratelimit-remaining"] ?? headers["ratelimit-remaining"]
  const reset = headers["x-ratelimit-reset"] ?? headers["ratelimit-reset"]
  return remaining === "0" && reset !== undefined && /^\d{1,12}$/.test(reset)
    ? millisUntil(Number(reset) * 1000, now)
    : undefined
}

/** Returns whether less than a tenth of the requests are left that the host grants the account for now. */
export const isScarce = (headers: HostResponse["headers"]): boolean => {
  const limit = Number(headers["x-ratelimit-limit"] ?? headers["ratelimit-limit"] ?? Number.NaN)
  const remaining = Number(headers["x-ratelimit-remaining"] ?? headers["ratelimit-remaining"] ?? Number.NaN)
  return remaining * 10 < limit
}

const isRateLimit = ({ status, headers, body }: HostResponse): boolean =>
  status === 429 ||
  (status === 403 &&
    (headers["retry-after"] !== undefined ||
      headers["x-ratelimit-remaining"] === "0" ||
      means(body.slice(0, 2000), "githubLimits"))) ||
  (status === 422 && means(body.slice(0, 2000), "githubTooQuick"))

const toReason = (response: HostResponse, writes: boolean): ForgeError["reason"] => {
  const { status } = response
  if (isRateLimit(response)) return "rate_limited"
  if (status === 401) return "unauthorized"
  if (status === 403 || status === 407) return "forbidden"
  if (status === 404 || status === 410 || (status >= 300 && status < 400)) return "not_found"
  if (status === 409 || status === 423) return "conflict"
  if (status === 408) return writes ? "unknown_outcome" : "unavailable"
  if (status < 500) return "invalid"
  // Only 503 is a refusal. After any other 5xx the write may have succeeded: a gateway lost the response, or the host failed
  // later.
  return writes && status !== 503 ? "unknown_outcome" : "unavailable"
}

const gitHostAdvice: Advice = {
  unreadable: { _tag: "CheckBaseUrl" },
  unauthorized: { _tag: "CheckCredential" },
  forbidden: { _tag: "GrantAccess" },
  not_found: { _tag: "MissingOrHidden" },
  rate_limited: { _tag: "CredentialLimited" }
}

/** Prepares external text for a record: without secrets and control characters, on one line, truncated. */
const quote = (text: string, secrets: ReadonlyArray<string>): string => {
  const safe = redactCredentials(text, secrets)
    .replace(/\p{Cc}+/gu, " ")
    .trim()
  return safe.length > maxQuoteLength ? `${safe.slice(0, maxQuoteLength)}…` : safe
}

/** Returns `message`, `errors` and `details` of the host's JSON; undefined for anything else, such as an HTML error page. */
const hostMessage = (body: string): string | undefined => {
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    return undefined
  }
  if (typeof parsed !== "object" || parsed === null) return undefined
  const fields: Record<string, unknown> = { ...parsed }
  const parts = [fields["message"], fields["error"], fields["error_description"], fields["errors"], fields["details"]]
    .filter((part) => part !== undefined && part !== null && part !== "")
    .map((part) => (typeof part === "string" ? part : JSON.stringify(part)))
  return parts.length === 0 ? undefined : parts.join(": ")
}

/** Returns the missing permission, which GitHub names in a header for fine-grained and app tokens. */
const neededPermission = (headers: HostResponse["headers"], secrets: HostRequest["secrets"]): string | undefined => {
  const needed = headers["x-accepted-github-permissions"]
  return needed === undefined || needed === "" ? undefined : quote(needed, secrets)
}

export const toRefusal = (request: HostRequest, response: HostResponse): ForgeError => {
  const reason = toReason(response, request.writes)
  const advice = request.advice ?? gitHostAdvice
  const detail = hostMessage(response.body)
  const wait = retryAfter(response.headers, request.now) ?? (reason === "rate_limited" ? defaultWaitMillis : undefined)
  return new ForgeError({
    reason,
    status: response.status,
    ...(wait === undefined ? {} : { retryAfterMillis: wait }),
    operation: request.operation,
    why: {
      _tag: "HostRefused",
      operation: request.operation,
      status: response.status,
      words: detail === undefined ? undefined : quote(detail, request.secrets),
      permissions: reason === "forbidden" ? neededPermission(response.headers, request.secrets) : undefined,
      advice: advice[reason]
    }
  })
}

/** Failures before the request was sent: it had no effect at the host. */
const neverSent = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_INVALID_ARG",
  "CERT_HAS_EXPIRED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "ERR_TLS_CERT_ALTNAME_INVALID"
])

const findErrorCode = (cause: unknown): string | undefined => {
  if (typeof cause !== "object" || cause === null) return undefined
  if ("code" in cause && typeof cause.code === "string") return cause.code
  return "cause" in cause ? findErrorCode(cause.cause) : undefined
}

/** Converts the failure of a request without a response, or with an incomplete one. */
export const toMissingResponse = (request: HostRequest, cause: unknown): ForgeError => {
  if (cause instanceof OversizedBody)
    return new ForgeError({
      reason: request.writes ? "unknown_outcome" : "invalid",
      operation: request.operation,
      why: { _tag: "HostTooLarge", operation: request.operation, mebibytes: maxResponseMebibytes }
    })
  const code = findErrorCode(cause)
  const sent = code === undefined || !neverSent.has(code)
  const reported = cause instanceof Error ? quote(cause.message, request.secrets) : ""
  const text = code === undefined || reported.includes(code) ? reported : `${code} ${reported}`
  return new ForgeError({
    reason: request.writes && sent ? "unknown_outcome" : "unavailable",
    operation: request.operation,
    why: {
      _tag: "HostSilent",
      operation: request.operation,
      error: cause instanceof Error ? verbatimReason(text) : { _tag: "ConnectionClosed" },
      advice: findConnectionAdvice(text)
    }
  })
}

/** Converts a success whose body does not match the host's documentation, such as the login page of a proxy. */
export const toUnreadable = (request: HostRequest, status: number, detail: string): ForgeError =>
  new ForgeError({
    reason: request.writes ? "unknown_outcome" : "invalid",
    status,
    operation: request.operation,
    why: {
      _tag: "HostUnreadable",
      operation: request.operation,
      status,
      detail: quote(detail, request.secrets),
      advice: (request.advice ?? gitHostAdvice).unreadable
    }
  })
