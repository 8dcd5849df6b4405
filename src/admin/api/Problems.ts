/**
 * Defines the error responses of the administration: problem details (RFC 9457), one class per status, with a machine-readable `code`. The
 * classes are the errors of the handlers and of the typed client. What is wrong is a reason, for programs and for pages in any language;
 * `detail`, and `message` of an issue, are its English text, for people.
 */
import { Schema } from "effect"
import { HttpApiError, HttpApiSchema } from "effect/http-api"
import { Reason } from "../../domain/Reason.ts"
import { inEnglish } from "../../text/en.ts"

const blank = "about:blank"

const RequestIssue = Schema.Struct({
  path: Schema.String.annotate({ description: "Name of the parameter, or path of the field, such as `reason`" }),
  message: Schema.String.annotate({ description: "Expected value, in English" }),
  reason: Reason
})
type RequestIssue = typeof RequestIssue.Type

/** Fields of every problem in addition to those of RFC 9457. */
const common = { reason: Reason }

/** Returns the fields of a problem that say what is wrong. */
export const because = (reason: Reason) => ({ detail: inEnglish(reason), reason })

const code = <const A extends string>(codes: ReadonlyArray<A>) =>
  Schema.Literals(codes).annotate({ description: "Stable name of the error, for programs" })

const issues = Schema.Array(RequestIssue).annotate({ description: "Every invalid parameter or field" })

export class BadRequest extends HttpApiError.Problem<BadRequest>()(
  "BadRequest",
  { type: blank, status: 400, title: "Bad Request" },
  { ...common, code: code(["invalid_json", "invalid_payload"]), issues: Schema.optionalKey(issues) }
) {}

export class Unauthorized extends HttpApiError.Problem<Unauthorized>()(
  "Unauthorized",
  { type: blank, status: 401, title: "Unauthorized" },
  { ...common, code: code(["unauthorized", "invalid_credentials", "invalid_link", "login_refused"]) }
) {}

export class Forbidden extends HttpApiError.Problem<Forbidden>()(
  "Forbidden",
  { type: blank, status: 403, title: "Forbidden" },
  { ...common, code: code(["cross_origin", "local_only", "no_role", "person_needed", "role_needed"]) }
) {}

export class NotFound extends HttpApiError.Problem<NotFound>()(
  "NotFound",
  { type: blank, status: 404, title: "Not Found" },
  { ...common, code: code(["not_found", "unknown_workspace"]) }
) {}

export class MethodNotAllowed extends HttpApiError.Problem<MethodNotAllowed>()(
  "MethodNotAllowed",
  { type: blank, status: 405, title: "Method Not Allowed" },
  { ...common, code: code(["method_not_allowed"]) }
) {}

export class StateConflict extends HttpApiError.Problem<StateConflict>()(
  "StateConflict",
  { type: blank, status: 409, title: "Conflict" },
  {
    ...common,
    code: code([
      "already_ended",
      "figures_off",
      "host_failed",
      "links_off",
      "name_taken",
      "newer",
      "no_inventory",
      "not_dead",
      "not_replayable",
      "not_searched",
      "preview_changed",
      "too_many_views",
      "workspace_gone"
    ])
  }
) {}

export class PayloadTooLarge extends HttpApiError.Problem<PayloadTooLarge>()(
  "PayloadTooLarge",
  { type: blank, status: 413, title: "Content Too Large" },
  { ...common, code: code(["body_too_large"]) }
) {}

export class UnsupportedMediaType extends HttpApiError.Problem<UnsupportedMediaType>()(
  "UnsupportedMediaType",
  { type: blank, status: 415, title: "Unsupported Media Type" },
  { ...common, code: code(["unsupported_media_type"]) }
) {}

export class TooManyRequests extends HttpApiError.Problem<TooManyRequests>()(
  "TooManyRequests",
  { type: blank, status: 429, title: "Too Many Requests" },
  {
    ...common,
    code: code(["check_throttled", "login_throttled", "too_many_streams"]),
    retry_after: Schema.Int.annotate({ description: "Seconds until the next attempt, as in the header `retry-after`" })
  }
) {}

export class Unavailable extends HttpApiError.Problem<Unavailable>()(
  "Unavailable",
  { type: blank, status: 503, title: "Service Unavailable" },
  { ...common, code: code(["source_contended", "unavailable"]) }
) {}

const seconds = { "retry-after": Schema.String.annotate({ description: "Seconds until the next attempt" }) }
const scheme = { "www-authenticate": Schema.String.annotate({ description: "The scheme of the administration" }) }

const challenge = { "www-authenticate": 'Bearer realm="admin"' }
const retryUnavailable = { "retry-after": "5" }

/** Responses with the headers that HTTP requires of them. */
export const UnauthorizedResponse = Unauthorized.pipe(
  HttpApiSchema.encodeToWithHeaders(
    { body: Unauthorized, headers: scheme },
    { decode: ({ body }) => body, encode: (body) => ({ body, headers: challenge }) }
  )
)

export const TooManyRequestsResponse = TooManyRequests.pipe(
  HttpApiSchema.encodeToWithHeaders(
    { body: TooManyRequests, headers: seconds },
    { decode: ({ body }) => body, encode: (body) => ({ body, headers: { "retry-after": `${body.retry_after}` } }) }
  )
)

export const UnavailableResponse = Unavailable.pipe(
  HttpApiSchema.encodeToWithHeaders(
    { body: Unavailable, headers: seconds },
    { decode: ({ body }) => body, encode: (body) => ({ body, headers: retryUnavailable }) }
  )
)

/** Returns the headers of an error of a path that the definition lacks. */
export const listHeaders = (
  problem: NotFound | TooManyRequests | Unauthorized | Unavailable
): Record<string, string> => {
  if (problem instanceof Unauthorized) return challenge
  if (problem instanceof TooManyRequests) return { "retry-after": `${problem.retry_after}` }
  return problem instanceof Unavailable ? retryUnavailable : {}
}

export const notFound = (reason: Reason): NotFound => new NotFound({ code: "not_found", ...because(reason) })

export const conflict = (name: StateConflict["code"], reason: Reason): StateConflict =>
  new StateConflict({ code: name, ...because(reason) })

/** Refuses one parameter or field; an empty path is the whole body. Names the expected value, never the received one. */
export const invalid = (path: string, reason: Reason): BadRequest => invalidAll([{ path, reason }])

type Invalid = Pick<RequestIssue, "path" | "reason">

export const invalidAll = (found: readonly [Invalid, ...ReadonlyArray<Invalid>]): BadRequest => {
  const [{ path, reason }] = found
  const { detail } = because(reason)
  return new BadRequest({
    code: "invalid_payload",
    detail: path === "" ? detail : `${path}: ${detail}`,
    reason,
    issues: found.map((issue) => ({ ...issue, message: inEnglish(issue.reason) }))
  })
}
