/**
 * Defines the conditions that requests meet before a handler runs, with the errors of requests that do not. The implementations are in
 * src/admin.
 */
import { Context } from "effect"
import type { Redacted } from "effect"
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import type { AccessRole } from "../../domain/AccessRole.ts"
import type { VerdictStatement } from "../../domain/VerdictStatement.ts"
import {
  BadRequest,
  Forbidden,
  NotFound,
  PayloadTooLarge,
  TooManyRequestsResponse,
  UnauthorizedResponse,
  UnavailableResponse,
  UnsupportedMediaType
} from "./Problems.ts"

/** The user whose session, token or access to the local socket authorises the request. */
export class CurrentUser extends Context.Service<
  CurrentUser,
  {
    /** Name of a person, or `token NAME`. */
    readonly username: string
    readonly role: AccessRole
    /** A program, which has a token of its own. */
    readonly isProgram: boolean
    /** Identity of a person: the way of the login, and the name there. Undefined for a program. */
    readonly person: string | undefined
    /** Token of the session or of the program; undefined on the local socket. */
    readonly token: Redacted.Redacted | undefined
    /** Id of the session; undefined for a program, and on the local socket. */
    readonly sessionId: string | undefined
    /** End of the session or the token, in milliseconds since the epoch; undefined on the local socket. */
    readonly expiresAt: number | undefined
  }
>()("aicr/admin/CurrentUser") {}

/** Requires a session, or a token with a role, except on the local socket; and the least role of the endpoint. */
export class Authenticated extends HttpApiMiddleware.Service<Authenticated, { provides: CurrentUser }>()(
  "aicr/admin/Authenticated",
  {
    error: [UnauthorizedResponse, Forbidden, NotFound, TooManyRequestsResponse, UnavailableResponse],
    security: { session: HttpApiSecurity.bearer }
  }
) {}

/** The holder of a session or of a token who reads statements. */
export class CurrentReader extends Context.Service<
  CurrentReader,
  { readonly mayRead: (statement: VerdictStatement) => boolean }
>()("aicr/admin/CurrentReader") {}

/** Requires a session, or a token with a role, or with the scope `read` and its repositories. */
export class ReadsVerdicts extends HttpApiMiddleware.Service<ReadsVerdicts, { provides: CurrentReader }>()(
  "aicr/admin/ReadsVerdicts",
  {
    error: [UnauthorizedResponse, NotFound, TooManyRequestsResponse, UnavailableResponse],
    security: { session: HttpApiSecurity.bearer }
  }
) {}

/** Records a write with its user, before it is handled and with its outcome. */
export class Audited extends HttpApiMiddleware.Service<Audited, { requires: CurrentUser }>()("aicr/admin/Audited", {
  error: [UnavailableResponse]
}) {}

/** Requires known parameters, a body within limits, and for a write a caller of the same origin. */
export class ValidRequest extends HttpApiMiddleware.Service<ValidRequest>()("aicr/admin/ValidRequest", {
  error: [BadRequest, Forbidden, PayloadTooLarge, UnsupportedMediaType]
}) {}
