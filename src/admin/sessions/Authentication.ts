/** Authenticates requests, by the token of a session or of a program, or by access to the local socket, and checks the role of their user. */
import { Effect, Layer, Redacted } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { ConfigStore } from "../../config/ConfigStore.ts"
import type { AdminActions } from "../../store/AdminActions.ts"
import type { AdminSessions } from "../../store/AdminSessions.ts"
import { howToTurnOn, readAdminCredentials } from "../AdminCredentials.ts"
import { foldRepo } from "../../domain/Change.ts"
import { includesRole } from "../../domain/AccessRole.ts"
import type { AccessRole } from "../../domain/AccessRole.ts"
import { tokenHolder, tokenPrefix } from "../../domain/ServiceToken.ts"
import type { ServiceToken } from "../../domain/ServiceToken.ts"
import type { VerdictStatement } from "../../domain/VerdictStatement.ts"
import type { LoginAttempts } from "../../store/LoginAttempts.ts"
import type { ServiceTokens } from "../../store/ServiceTokens.ts"
import { makeTokenAccess } from "../agents/TokenAccess.ts"
import { adminPath } from "../api/AdminHttpApi.ts"
import { peopleOnly, readLeastRole } from "../api/LeastRoles.ts"
import { because, Forbidden, notFound, TooManyRequests, Unauthorized } from "../api/Problems.ts"
import { Authenticated, CurrentReader, CurrentUser, ReadsVerdicts } from "../api/Rules.ts"
import { finishAction, startAction } from "../handlers/Audit.ts"
import { orUnavailable } from "../handlers/Available.ts"
import { Caller } from "./Caller.ts"
import { readOidc } from "./OidcPerson.ts"
import { findSession, parseBearer, tokenIn } from "./Sessions.ts"

/** Returns the administrator's credentials; fails with instructions while none are configured. */
export const requireCredentials = Effect.gen(function* () {
  const snapshot = (yield* ConfigStore).current()
  return readAdminCredentials(snapshot) ?? (yield* notFound(howToTurnOn(snapshot)))
})

const isProgramToken = (authorization: unknown): boolean => parseBearer(authorization)?.startsWith(tokenPrefix) === true

const unauthorized = new Unauthorized({
  code: "unauthorized",
  ...because({ _tag: "LoginNeeded" })
})

type Access = ReturnType<typeof makeTokenAccess>
type User = CurrentUser["Service"]

/** Returns the token of a program that the caller sent; fails if it is not valid, or the caller sent too many that are not. */
const requireToken = Effect.fnUntraced(function* (access: Access) {
  const accessed = yield* access((yield* Caller).request)
  if (accessed._tag === "Granted") return accessed.token
  if (accessed._tag === "Refused") return yield* unauthorized
  const { seconds } = accessed
  const why = because({ _tag: "TooManyFailures", seconds })
  return yield* new TooManyRequests({ code: "login_throttled", ...why, retry_after: seconds })
})

const programUser = (token: ServiceToken, role: AccessRole, text: string): User => ({
  username: tokenHolder(token),
  role,
  isProgram: true,
  person: undefined,
  token: Redacted.make(text),
  sessionId: undefined,
  expiresAt: token.expiresAt
})

/** Returns the user of the request. No failure reveals which paths exist. */
const findUser = Effect.fnUntraced(function* (access: Access) {
  const { localUser, request } = yield* Caller
  if (localUser !== undefined) {
    const local = {
      username: localUser,
      role: "administrator",
      isProgram: false,
      person: `local:${localUser}`
    } as const
    return { ...local, token: undefined, sessionId: undefined, expiresAt: undefined } satisfies User
  }
  const credentials = yield* requireCredentials
  const { authorization } = request.headers
  if (isProgramToken(authorization)) {
    const token = yield* requireToken(access)
    if (token.role === undefined) return yield* unauthorized
    return programUser(token, token.role, parseBearer(authorization) ?? "")
  }
  const token = tokenIn(authorization)
  const origin = readOidc((yield* ConfigStore).current())?.digest
  const session = token === undefined ? undefined : yield* findSession(token, credentials, origin)
  if (token === undefined || session === undefined) return yield* unauthorized
  const { expiresAt, id: sessionId, role, username } = session
  // A person of the provider may have the name of the super-administrator.
  const person = `${session.origin === undefined ? "password" : "oidc"}:${username}`
  return { username, role, isProgram: false, person, token: Redacted.make(token), sessionId, expiresAt } satisfies User
}, orUnavailable)

/** Returns the function that finds the user of a request. It remembers clients that sent too many wrong tokens. */
export const makeAuthenticate = () => {
  const access = makeTokenAccess()
  return findUser(access)
}
export type Authenticate = ReturnType<typeof makeAuthenticate>

/** Fails without the least role of an endpoint; a refused write is recorded. */
const requireRole = Effect.fnUntraced(function* (
  { isProgram, role, username }: User,
  endpoint: HttpApiEndpoint.Top,
  action: string
) {
  const route = `${endpoint.method} ${endpoint.path.slice(adminPath.length)}`
  const least = readLeastRole(route)
  const refusal =
    least === undefined || includesRole(role, least)
      ? isProgram && peopleOnly.has(route)
        ? new Forbidden({ code: "person_needed", ...because({ _tag: "PersonNeeded" }) })
        : undefined
      : new Forbidden({ code: "role_needed", ...because({ _tag: "RoleNeeded", role, needed: least }) })
  if (refusal === undefined) return
  if (endpoint.method !== "GET") yield* finishAction(yield* startAction(username, action), refusal.code)
  return yield* refusal
})

const readsNothing = { mayRead: () => false }
const readsAll = { mayRead: () => true }

/** Returns the rights of a token or a session. A token without a role and the scope `read` reads nothing. */
const findReader = Effect.fnUntraced(function* (access: Access) {
  const { localUser, request } = yield* Caller
  if (localUser !== undefined || !isProgramToken(request.headers["authorization"])) {
    yield* findUser(access)
    return readsAll
  }
  const { repositories, role, scopes } = yield* requireToken(access)
  if (role !== undefined) return readsAll
  if (!scopes.includes("read")) return readsNothing
  return {
    mayRead: ({ predicate: { repository, trigger } }: VerdictStatement) =>
      repositories.length === 0 || repositories.includes(`${trigger}:${foldRepo(repository)}`)
  }
}, orUnavailable)

const readers = Layer.effect(
  ReadsVerdicts,
  Effect.gen(function* () {
    const services = yield* Effect.context<AdminSessions | ConfigStore | LoginAttempts | ServiceTokens>()
    const access = makeTokenAccess()
    return ReadsVerdicts.of({
      session: (handled) =>
        Effect.flatMap(Effect.provide(findReader(access), services), (reader) =>
          Effect.provideService(handled, CurrentReader, reader)
        )
    })
  })
)

const sessions = Layer.effect(
  Authenticated,
  Effect.gen(function* () {
    const services = yield* Effect.context<AdminActions | AdminSessions | ConfigStore | LoginAttempts | ServiceTokens>()
    const authenticate = makeAuthenticate()
    return Authenticated.of({
      session: (handled, { endpoint, group }) =>
        Effect.gen(function* () {
          const user = yield* authenticate
          yield* requireRole(user, endpoint, `${group.identifier}.${endpoint.identifier}`)
          return user
        }).pipe(
          Effect.provide(services),
          Effect.flatMap((user) => Effect.provideService(handled, CurrentUser, user))
        )
    })
  })
)

export const layer = Layer.merge(sessions, readers)
