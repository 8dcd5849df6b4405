/** Authenticates requests: by the token of a session, or by access to the local socket. */
import { Effect, Layer, Redacted } from "effect"
import { ConfigStore } from "../../config/ConfigStore.ts"
import { AdminSessions } from "../../store/AdminSessions.ts"
import { howToTurnOn, readAdminCredentials } from "../AdminCredentials.ts"
import { because, notFound, Unauthorized } from "../api/Problems.ts"
import { Authenticated, CurrentUser } from "../api/Rules.ts"
import { orUnavailable } from "../handlers/Available.ts"
import { Caller } from "./Caller.ts"
import { findSession, tokenIn } from "./Sessions.ts"

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

export const layer = Layer.effect(
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
