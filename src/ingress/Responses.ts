/** Defines the responses as data: fixed bodies for webhooks, problem details (RFC 9457) for everything else. */
import type { Admission } from "../admission/Admit.ts"
import type { AcceptedStatus, IgnoreReason, RejectReason } from "../domain/Decision.ts"
import { inEnglish } from "../text/en.ts"
import type { Reason } from "../domain/Reason.ts"

export interface IngressResponse {
  readonly status: number
  readonly contentType: string
  readonly body: string
  /** Bytes that replace `body`. */
  readonly bytes?: Uint8Array | undefined
  /** Bytes that replace `body`, of unknown length. */
  readonly stream?: ReadableStream<Uint8Array> | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The request was not read to its end, so the connection cannot carry another one. */
  readonly close?: boolean | undefined
  /** The remainder of the body is not read at all, not even to discard it, because the read budget is exhausted. */
  readonly leavesBody?: boolean | undefined
}

const json = (status: number, body: unknown, rest?: Partial<IngressResponse>): IngressResponse => ({
  status,
  contentType: "application/json",
  body: JSON.stringify(body),
  ...rest
})

/** Seconds after which a host should resend a delivery that could not be stored. */
const retryAfter = { "retry-after": "30" }

/** Names the event record. For a duplicate it is that of the first delivery, which `x-request-id` does not name. */
const ofEvent = (eventId: string) => ({ headers: { "x-aicr-event": eventId } })

export const accepted = (
  eventId: string,
  event: string,
  admission: Pick<Admission, "change" | "dueAt">,
  status: AcceptedStatus,
  now: number
): IngressResponse =>
  json(
    202,
    {
      accepted: true,
      event_id: eventId,
      provider: admission.change.provider,
      event,
      target_kind: admission.change.target.kind,
      workspace: admission.change.workspace,
      status,
      ...(admission.dueAt > now ? { due_at: new Date(admission.dueAt).toISOString() } : undefined)
    },
    ofEvent(eventId)
  )

export const ignored = (eventId: string, reason: IgnoreReason, provider: string, event: string): IngressResponse =>
  json(202, { accepted: false, event_id: eventId, reason, provider, event }, ofEvent(eventId))

/** The delivery is not authenticated. The response does not reveal which part was wrong. */
export const unauthenticated: IngressResponse = json(401, { accepted: false, reason: "invalid_signature" })

/** The response does not reveal which key was wrong or whether one is configured. */
export const unauthorized: IngressResponse = json(
  401,
  { accepted: false, reason: "unauthorized" },
  { headers: { "www-authenticate": 'Bearer realm="triggers"' } }
)

/** Accepted; the workspace is determined later. */
export const routed = (
  eventId: string,
  provider: string,
  event: string,
  status: Extract<AcceptedStatus, "queued" | "duplicate">
): IngressResponse =>
  json(202, { accepted: true, event_id: eventId, provider, event, target_kind: "commit", status }, ofEvent(eventId))

/** Describes what cannot be read, with its path unless that is the whole payload. */
export const describeIssues = (issues: ReadonlyArray<{ readonly path: string; readonly message: string }>): string =>
  issues.map(({ message, path }) => (path === "" ? message : `${path}: ${message}`)).join("; ")

export const malformed = (
  reason: RejectReason,
  issues: ReadonlyArray<{ readonly path: string; readonly message: string }>,
  provider: string
): IngressResponse => json(400, { accepted: false, reason, provider, issues })

export const notConfigured: IngressResponse = json(
  404,
  { accepted: false, reason: "trigger_not_configured" },
  { close: true }
)

/** Nothing was accepted; the host should resend the delivery. */
export const unavailable = (reason: "store_unavailable" | "queue_full" | "starting"): IngressResponse =>
  json(503, { accepted: false, reason }, { headers: retryAfter })

const problem = (
  status: number,
  code: string,
  title: string,
  reason: Reason,
  rest?: Partial<IngressResponse>
): IngressResponse => ({
  status,
  contentType: "application/problem+json",
  body: JSON.stringify({ type: "about:blank", title, status, code, detail: inEnglish(reason), reason }),
  ...rest
})

export const notFound = (reason: Reason = { _tag: "PathUnknown" }): IngressResponse =>
  problem(404, "not_found", "Not Found", reason)

/** The response does not reveal what is wrong with the signature, the time or the receiver. */
export const callbackUnauthorized: IngressResponse = problem(401, "invalid_signature", "Unauthorized", {
  _tag: "CallbackUnsigned"
})

export const callbackMalformed: IngressResponse = problem(400, "malformed_callback", "Bad Request", {
  _tag: "CallbackMalformed"
})

export const callbackDisabled: IngressResponse = problem(503, "callback_disabled", "Service Unavailable", {
  _tag: "CallbackDisabled"
})

export const methodNotAllowed = (allowed: string): IngressResponse =>
  problem(
    405,
    "method_not_allowed",
    "Method Not Allowed",
    { _tag: "MethodsAllowed", methods: [allowed] },
    { headers: { allow: allowed } }
  )

export const bodyTooLarge = (limit: number): IngressResponse =>
  problem(413, "body_too_large", "Content Too Large", { _tag: "BodyTooLarge", count: limit }, { close: true })

export const bodiesTooMany: IngressResponse = problem(
  503,
  "busy",
  "Service Unavailable",
  { _tag: "TooManyBodies" },
  { close: true, leavesBody: true, headers: retryAfter }
)

export const connectionsTooMany: IngressResponse = problem(
  503,
  "busy",
  "Service Unavailable",
  { _tag: "TooManyConnections" },
  { close: true, leavesBody: true, headers: retryAfter }
)

export const requestTimeout: IngressResponse = problem(
  408,
  "request_timeout",
  "Request Timeout",
  { _tag: "RequestIncomplete" },
  { close: true }
)

export const headersTooLarge: IngressResponse = problem(
  431,
  "headers_too_large",
  "Request Header Fields Too Large",
  { _tag: "HeaderTooLarge" },
  { close: true }
)

export const badRequest: IngressResponse = problem(
  400,
  "bad_request",
  "Bad Request",
  { _tag: "NotHttp" },
  {
    close: true
  }
)

export const expectationFailed: IngressResponse = problem(
  417,
  "expectation_failed",
  "Expectation Failed",
  { _tag: "ExpectationUnsupported" },
  { close: true }
)

export const internalError: IngressResponse = problem(
  500,
  "internal_error",
  "Internal Server Error",
  { _tag: "InternalFailure" },
  { close: true }
)

export const text = (
  status: number,
  contentType: string,
  body: string,
  headers?: Readonly<Record<string, string>>
): IngressResponse => ({
  status,
  contentType,
  body,
  headers
})

export const metrics = (rendered: string): IngressResponse =>
  text(200, "text/plain; version=0.0.4; charset=utf-8", rendered)

export const metricsOff: IngressResponse = notFound({ _tag: "MetricsOff" })

/** The node waits for its servers; `/readyz` names them. */
export const starting: IngressResponse = problem(
  503,
  "starting",
  "Service Unavailable",
  { _tag: "ServiceStarting" },
  { headers: retryAfter }
)

export const health = (status: 200 | 503, body: unknown): IngressResponse =>
  json(status, body, { headers: { "cache-control": "no-store" } })

/** Returns the decision that a response about a delivery contains; undefined if nothing was stored. */
export const readDecision = ({ body, status }: IngressResponse) => {
  if (status === 503) return undefined
  const {
    event_id,
    reason,
    status: decision
  } = JSON.parse(body) as {
    readonly event_id?: string
    readonly reason?: string
    readonly status?: string
  }
  return { eventId: event_id, decision: decision ?? (status === 202 ? "ignored" : "rejected"), reason }
}
