/** Authenticates requests: by the token of a session or of a program, or by access to the local socket. */
import { Effect, Layer, Redacted } from "effect"
import { ConfigStore } from "../../config/ConfigStore.ts"
import { AdminSessions } from "../../store/AdminSessions.ts"
import { howToTurnOn, readAdminCredentials } from "../AdminCredentials.ts"
import { foldRepo } from "../../domain/Change.ts"
import { tokenPrefix } from "../../domain/ServiceToken.ts"
import type { VerdictStatement } from "../../domain/VerdictStatement.ts"
import type { LoginAttempts } from "../../store/LoginAttempts.ts"
import type { ServiceTokens } from "../../store/ServiceTokens.ts"
import { makeTokenAccess } from "../agents/TokenAccess.ts"
import { because, notFound, TooManyRequests, Unauthorized } from "../api/Problems.ts"
import { Authenticated, CurrentReader, CurrentUser, ReadsVerdicts } from "../api/Rules.ts"
import { orUnavailable } from "../handlers/Available.ts"
import { Caller } from "./Caller.ts"
import { findSession, parseBearer, tokenIn } from "./Sessions.ts"

/** Returns the administrator's credentials; fails with instructions while none are configured. */
export const requireCredentials = Effect.gen(function* () {
  const snapshot = (yield* ConfigStore).current()
  return readAdminCredentials(snapshot) ?? (yield* notFound(howToTurnOn(snapshot)))
})

const unauthorized = new Unauthorized({
  code: "unauthorized",
  ...because({ _tag: "LoginNeeded" })
})

/** Returns the user of the request. No failure reveals which paths exist. */
export const authenticate = Effect.gen(function* () {
  const { localUser, request } = yield* Caller
  if (localUser !== undefined) return { username: localUser, token: undefined, expiresAt: undefined }
  const credentials = yield* requireCredentials
  const token = tokenIn(request.headers["authorization"])
  const session = token === undefined ? undefined : yield* findSession(token, credentials)
  if (token === undefined || session === undefined) return yield* unauthorized
  return { username: session.username, token: Redacted.make(token), expiresAt: session.expiresAt }
}).pipe(orUnavailable)

const readsNothing = { mayRead: () => false }

/** Returns the rights of a token or a session. A token without the scope `read` reads nothing. */
const findReader = Effect.fnUntraced(function* (access: ReturnType<typeof makeTokenAccess>) {
  const { localUser, request } = yield* Caller
  const isToken = parseBearer(request.headers["authorization"])?.startsWith(tokenPrefix) === true
  if (localUser !== undefined || !isToken) {
    yield* authenticate
    return { mayRead: () => true }
  }
  const accessed = yield* access(request)
  if (accessed._tag === "Refused") return yield* unauthorized
  if (accessed._tag === "Held") {
    const { seconds } = accessed
    const why = because({ _tag: "TooManyFailures", seconds })
    return yield* new TooManyRequests({ code: "login_throttled", ...why, retry_after: seconds })
  }
  const { repositories, scopes } = accessed.token
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
    const services = yield* Effect.context<AdminSessions | ConfigStore>()
    return Authenticated.of({
      session: (handled) =>
        Effect.flatMap(Effect.provide(authenticate, services), (user) =>
          Effect.provideService(handled, CurrentUser, user)
        )
    })
  })
)

export const layer = Layer.merge(sessions, readers)
