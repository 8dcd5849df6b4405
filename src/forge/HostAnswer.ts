/**
 * The one place where what a host answered, or failed to answer, becomes a `ForgeError`. Pure. Host text is quoted short and
 * with every known secret struck out, because these messages end in records, logs and the dashboard.
 */
import { millisUntil, parseRetryAfter } from "../domain/RetryAfter.ts"
import { redactCredentials } from "../domain/RedactCredentials.ts"
import { ForgeError } from "./Forge.ts"

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

/** What was asked: enough to say what failed, nothing that must be hidden. */
export interface HostRequest {
  readonly operation: string
  readonly writes: boolean
  readonly secrets: ReadonlyArray<string>
  readonly now: number
}

const quoted = 300

/** A host that says "slow down" without saying how long. GitHub documents one minute for its secondary limits. */
const defaultWait = 60_000

/** What `Retry-After` asks for, else the moment a used-up quota is filled again. Milliseconds from `now`. */
export const retryAfter = (headers: HostResponse["headers"], now: number): number | undefined => {
  const wait = parseRetryAfter(headers, now)
  if (wait !== undefined) return wait
  const remaining = headers["x-ratelimit-remaining"] ?? headers["ratelimit-remaining"]
  const reset = headers["x-ratelimit-reset"] ?? headers["ratelimit-reset"]
  return remaining === "0" && reset !== undefined && /^\d{1,12}$/.test(reset)
    ? millisUntil(Number(reset) * 1000, now)
    : undefined
}

const isRateLimit = ({ status, headers, body }: HostResponse): boolean =>
  status === 429 ||
  (status === 403 &&
    (headers["retry-after"] !== undefined ||
      headers["x-ratelimit-remaining"] === "0" ||
      /rate limit|abuse detection/i.test(body.slice(0, 2000))))

const reasonOf = (answer: HostResponse, writes: boolean): ForgeError["reason"] => {
  const { status } = answer
  if (isRateLimit(answer)) return "rate_limited"
  if (status === 401) return "unauthorized"
  if (status === 403 || status === 407) return "forbidden"
  if (status === 404 || status === 410 || (status >= 300 && status < 400)) return "not_found"
  if (status === 409 || status === 423) return "conflict"
  if (status === 408) return writes ? "unknown_outcome" : "unavailable"
  if (status < 500) return "invalid"
  // Only 503 is a refusal. After any other 5xx a write may have been done: a gateway lost the answer, or the host failed after it.
  return writes && status !== 503 ? "unknown_outcome" : "unavailable"
}

const advice: Partial<Record<ForgeError["reason"], string>> = {
  unauthorized: "the credential is wrong or has expired; check token_env or app of the trigger",
  forbidden: "the credential lacks a permission; grant it access to this repository",
  not_found: "no such thing there, or the credential may not see it",
  rate_limited: "the host limits this credential; it is tried again later"
}

/** Text from outside, made fit for a record: no secrets, no control characters, one line, bounded. */
const quote = (text: string, secrets: ReadonlyArray<string>): string => {
  const safe = redactCredentials(text, secrets)
    .replace(/\p{Cc}+/gu, " ")
    .trim()
  return safe.length > quoted ? `${safe.slice(0, quoted)}…` : safe
}

/** `message` of the host's JSON with its `errors`, or nothing: an HTML error page helps nobody. */
const hostMessage = (body: string): string | undefined => {
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    return undefined
  }
  if (typeof parsed !== "object" || parsed === null) return undefined
  const said: Record<string, unknown> = { ...parsed }
  const parts = [said["message"], said["error"], said["error_description"], said["errors"]]
    .filter((part) => part !== undefined && part !== null && part !== "")
    .map((part) => (typeof part === "string" ? part : JSON.stringify(part)))
  return parts.length === 0 ? undefined : parts.join(": ")
}

/** Of a fine-grained or app token GitHub names what would have been needed. */
const neededPermission = (headers: HostResponse["headers"], secrets: HostRequest["secrets"]): string | undefined => {
  const needed = headers["x-accepted-github-permissions"]
  return needed === undefined || needed === "" ? undefined : `needs ${quote(needed, secrets)}`
}

export const refused = (asked: HostRequest, answer: HostResponse): ForgeError => {
  const reason = reasonOf(answer, asked.writes)
  const said = hostMessage(answer.body)
  const message = [
    `${asked.operation} answered ${answer.status}`,
    said === undefined ? undefined : quote(said, asked.secrets),
    reason === "forbidden" ? neededPermission(answer.headers, asked.secrets) : undefined,
    advice[reason]
  ]
    .filter((part) => part !== undefined)
    .join(": ")
  const wait = retryAfter(answer.headers, asked.now) ?? (reason === "rate_limited" ? defaultWait : undefined)
  return new ForgeError({
    reason,
    status: answer.status,
    ...(wait === undefined ? {} : { retryAfterMillis: wait }),
    operation: asked.operation,
    message
  })
}

/** Failures before the request left this machine: nothing can have happened at the host. */
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

const codeOf = (cause: unknown): string | undefined => {
  if (typeof cause !== "object" || cause === null) return undefined
  if ("code" in cause && typeof cause.code === "string") return cause.code
  return "cause" in cause ? codeOf(cause.cause) : undefined
}

/** No answer came, or none that could be read to its end. */
export const unanswered = (asked: HostRequest, cause: unknown): ForgeError => {
  const code = codeOf(cause)
  const sent = code === undefined || !neverSent.has(code)
  const what = cause instanceof Error ? quote(cause.message, asked.secrets) : "connection closed"
  return new ForgeError({
    reason: asked.writes && sent ? "unknown_outcome" : "unavailable",
    operation: asked.operation,
    message: `${asked.operation} failed without a response: ${code === undefined ? what : `${code} ${what}`}`
  })
}

/** A success whose body is not what the host documents, such as the login page of a proxy. */
export const unreadable = (asked: HostRequest, status: number, detail: string): ForgeError =>
  new ForgeError({
    reason: asked.writes ? "unknown_outcome" : "invalid",
    status,
    operation: asked.operation,
    message: `${asked.operation}: unexpected response with status ${status}: ${quote(detail, asked.secrets)}; check base_url of the trigger`
  })
