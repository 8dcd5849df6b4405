/** What is answered, as data: the table of decisions 2.4 for webhooks, problem details (RFC 9457) for everything else. */
import type { Admission } from "../admission/Admit.ts"
import type { AcceptedStatus } from "../domain/Decision.ts"

export interface Answer {
  readonly status: number
  readonly contentType: string
  readonly body: string
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The request was not read to its end: the connection cannot carry another one. */
  readonly close?: boolean | undefined
}

const json = (status: number, body: unknown, rest?: Partial<Answer>): Answer => ({
  status,
  contentType: "application/json",
  body: JSON.stringify(body),
  ...rest
})

/** Seconds after which a host should send again what could not be stored. */
const retryAfter = { "retry-after": "30" }

export const accepted = (
  eventId: string,
  event: string,
  admission: Pick<Admission, "change" | "dueAt">,
  status: AcceptedStatus,
  now: number
): Answer =>
  json(202, {
    accepted: true,
    event_id: eventId,
    provider: admission.change.provider,
    event,
    target_kind: admission.change.target.kind,
    workspace: admission.change.workspace,
    status,
    ...(admission.dueAt > now ? { due_at: new Date(admission.dueAt).toISOString() } : undefined)
  })

export const ignored = (eventId: string, reason: string, provider: string, event: string): Answer =>
  json(202, { accepted: false, event_id: eventId, reason, provider, event })

/** The delivery does not say who it is from. Which part was wrong is not told. */
export const unauthenticated: Answer = json(401, { accepted: false, reason: "invalid_signature" })

/** Which key was wrong, or whether there is one, is not told. */
export const unauthorized: Answer = json(
  401,
  { accepted: false, reason: "unauthorized" },
  { headers: { "www-authenticate": 'Bearer realm="triggers"' } }
)

/** Accepted; which workspace it belongs to is found afterwards. */
export const routed = (
  eventId: string,
  provider: string,
  event: string,
  status: Extract<AcceptedStatus, "queued" | "duplicate">
): Answer => json(202, { accepted: true, event_id: eventId, provider, event, target_kind: "commit", status })

export const malformed = (
  reason: string,
  issues: ReadonlyArray<{ readonly path: string; readonly message: string }>,
  provider: string
): Answer => json(400, { accepted: false, reason, provider, issues })

export const notConfigured: Answer = json(404, { accepted: false, reason: "trigger_not_configured" }, { close: true })

/** Nothing was accepted; the host shall send it again. */
export const unavailable = (reason: "store_unavailable" | "queue_full"): Answer =>
  json(503, { accepted: false, reason }, { headers: retryAfter })

const problem = (status: number, code: string, title: string, detail: string, rest?: Partial<Answer>): Answer => ({
  status,
  contentType: "application/problem+json",
  body: JSON.stringify({ type: "about:blank", title, status, code, detail }),
  ...rest
})

export const notFound = (detail = "There is nothing at this path."): Answer =>
  problem(404, "not_found", "Not Found", detail)

export const methodNotAllowed = (allowed: string): Answer =>
  problem(405, "method_not_allowed", "Method Not Allowed", `Allowed here: ${allowed}.`, { headers: { allow: allowed } })

export const bodyTooLarge = (limit: number): Answer =>
  problem(413, "body_too_large", "Content Too Large", `The body may have at most ${limit} bytes.`, { close: true })

export const bodiesTooMany: Answer = problem(
  503,
  "busy",
  "Service Unavailable",
  "Too many large bodies are being received at once. Send it again later.",
  { close: true, headers: retryAfter }
)

export const requestTimeout: Answer = problem(
  408,
  "request_timeout",
  "Request Timeout",
  "The request was not complete in time.",
  { close: true }
)

export const headersTooLarge: Answer = problem(
  431,
  "headers_too_large",
  "Request Header Fields Too Large",
  "The request's header is too large.",
  { close: true }
)

export const badRequest: Answer = problem(400, "bad_request", "Bad Request", "This is not a valid HTTP request.", {
  close: true
})

export const internalError: Answer = problem(
  500,
  "internal_error",
  "Internal Server Error",
  "Something is wrong with the service; its log has the details under this x-request-id.",
  { close: true }
)

export const text = (
  status: number,
  contentType: string,
  body: string,
  headers?: Readonly<Record<string, string>>
): Answer => ({
  status,
  contentType,
  body,
  headers
})

export const health = (status: 200 | 503, body: unknown): Answer =>
  json(status, body, { headers: { "cache-control": "no-store" } })
