/** Handles the login, the logout and the end of sessions. */
import { Effect, Redacted, Clock } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ConfigStore } from "../../config/ConfigStore.ts"
import { AdminHttpApi } from "../api/AdminHttpApi.ts"
import { listRefusals } from "../api/LeastRoles.ts"
import { because, Forbidden, notFound, TooManyRequests, Unauthorized } from "../api/Problems.ts"
import { CurrentUser } from "../api/Rules.ts"
import { listedSession } from "../api/SessionGroup.ts"
import { AdminSessions } from "../../store/AdminSessions.ts"
import { requireCredentials } from "./Authentication.ts"
import type { AdminCredentials, CredentialMatch } from "../AdminCredentials.ts"
import { discardAction, finishAction, startAction } from "../handlers/Audit.ts"
import { orUnavailable } from "../handlers/Available.ts"
import { Caller } from "./Caller.ts"
import { dashboardUrl } from "./DashboardAddress.ts"
import { makeOidcLogin } from "./OidcLogin.ts"
import { readOidc } from "./OidcPerson.ts"
import { findEditor } from "../configuration/DatabaseSource.ts"
import { closeSession, failureLimits, openLink, openSession, revokeSessions, useLink } from "./Sessions.ts"
import { maybeTime, toTime } from "../views/Views.ts"
import { withoutUndefined } from "../views/WithoutUndefined.ts"
import { createHash } from "node:crypto"
import { backoffMillis, doubling } from "../../domain/Backoff.ts"
import { LoginAttempts } from "../../store/LoginAttempts.ts"

/**
 * Limits guessing of passwords, over all nodes. After five failures in five minutes a client address is locked until one of them is older.
 * A user name is never locked, because that would let any client lock the administrator out: after five failures from any addresses its
 * attempts are delayed, longer with each. A user name is counted by its digest, because people type passwords there.
 */

const undelayedFailures = 4
const delays = doubling(500, 8000)

/** Returns the delay of an attempt for a user name with this number of failures. */
export const delayMillis = (failures: number): number =>
  failures <= undelayedFailures ? 0 : backoffMillis(delays, failures - undelayedFailures, 0)

/** Runs `check` unless there were too many failures. `Held`: it was not run, and may be in this number of seconds. */
const throttled = Effect.fnUntraced(function* <E, R>(
  client: string,
  username: string,
  check: Effect.Effect<CredentialMatch, E, R>
) {
  const attempts = yield* LoginAttempts
  const now = yield* Clock.currentTimeMillis
  const user = createHash("sha256").update(username).digest("hex")
  const attempt = yield* attempts.begin({ client: `address:${client}`, user: `user:${user}` }, failureLimits, now)
  if (attempt._tag === "Held") {
    return { _tag: "Held", seconds: Math.max(1, Math.ceil((attempt.until - now) / 1000)) } as const
  }
  yield* Effect.sleep(delayMillis(attempt.userFailures))
  const { isKnownName, isRight } = yield* check
  if (!isRight) return { _tag: "Wrong", isKnownName } as const
  yield* attempts.succeeded(attempt.id)
  return { _tag: "Right" } as const
})

/** Recorded until the record is removed: people type passwords as names. */
const otherName = "another user name"

/**
 * Failures are kept for the name of the administrator only: their number is limited, that of other names is not. A failure with another name is
 * recorded in the same way and its record removed, because a write that only one name causes would reveal that name by its duration.
 */
const recordLogin = Effect.fnUntraced(function* (
  { username }: AdminCredentials,
  attempt: { readonly _tag: "Right" } | { readonly _tag: "Wrong"; readonly isKnownName: boolean }
) {
  const isKept = attempt._tag === "Right" || attempt.isKnownName
  const id = yield* startAction(isKept ? username : otherName, "login.login")
  if (isKept) yield* finishAction(id, attempt._tag === "Right" ? "done" : "invalid_credentials")
  else yield* discardAction(id)
})

const login = Effect.fnUntraced(function* (username: string, password: string) {
  const credentials = yield* requireCredentials
  const { admin } = (yield* ConfigStore).current().document
  const { address, client } = (yield* Caller).request
  const attempt = yield* throttled(
    client,
    username,
    Effect.sync(() => credentials.match(username, password))
  )
  if (attempt._tag !== "Held") yield* recordLogin(credentials, attempt)
  switch (attempt._tag) {
    case "Held":
      yield* Effect.logWarning("login throttled", { address })
      return yield* new TooManyRequests({
        code: "login_throttled",
        ...because({ _tag: "TooManyFailures", seconds: attempt.seconds }),
        retry_after: attempt.seconds
      })
    case "Wrong":
      yield* Effect.logWarning("login failed", { address })
      return yield* new Unauthorized({
        code: "invalid_credentials",
        ...because({ _tag: "PasswordWrong" })
      })
    case "Right": {
      const { expiresAt, token } = yield* openSession(credentials, admin.session_ttl_seconds)
      return { token, expires_at: toTime(expiresAt) }
    }
  }
})

const invalidLink = new Unauthorized({
  code: "invalid_link",
  ...because({ _tag: "LinkUsed" })
})

const redeem = Effect.fnUntraced(function* (link: string) {
  const credentials = yield* requireCredentials
  const { address } = (yield* Caller).request
  if (!(yield* useLink(link, credentials))) {
    yield* Effect.logWarning("login link refused", { address })
    return yield* invalidLink
  }
  const { username } = credentials
  const id = yield* startAction(username, "login.redeem")
  const { expiresAt, token } = yield* openSession(
    credentials,
    (yield* ConfigStore).current().document.admin.session_ttl_seconds
  )
  yield* finishAction(id, "done")
  return { username, token, expires_at: toTime(expiresAt) }
})

const methods = Effect.gen(function* () {
  yield* requireCredentials
  return { oidc: readOidc((yield* ConfigStore).current()) !== undefined }
})

export const loginLayer = HttpApiBuilder.group(AdminHttpApi, "login", (handlers) =>
  Effect.sync(() => {
    const oidc = makeOidcLogin()
    return handlers.handleAll({
      methods: () => methods,
      login: ({ payload }) => orUnavailable(login(payload.username, payload.password)),
      redeem: ({ payload }) => orUnavailable(redeem(payload.link)),
      startOidc: () => oidc.start,
      finishOidc: ({ payload }) => orUnavailable(oidc.finish(payload.binding, payload.response))
    })
  })
)

/** Long enough to start a browser on another machine. */
const linkTtlSeconds = 600

const localOnly = new Forbidden({
  code: "local_only",
  ...because({ _tag: "LinksLocalOnly" })
})

const makeLink = Effect.gen(function* () {
  if ((yield* Caller).localUser === undefined) return yield* localOnly
  const { token, expiresAt } = yield* openLink(yield* requireCredentials, linkTtlSeconds)
  const { server } = (yield* ConfigStore).current().document
  // What follows `#` is not sent to any server, so that no log has it.
  return { url: `${dashboardUrl(server)}#login=${token}`, expires_at: toTime(expiresAt) }
})

const logout = Effect.gen(function* () {
  const { token } = yield* CurrentUser
  if (token !== undefined) yield* closeSession(Redacted.value(token), yield* requireCredentials)
})

const revoke = Effect.fnUntraced(function* (keepsCurrent: boolean) {
  const { token, username } = yield* CurrentUser
  const kept = keepsCurrent && token !== undefined ? Redacted.value(token) : undefined
  const revoked = yield* revokeSessions(kept, yield* requireCredentials)
  yield* Effect.logInfo("sessions of administrators revoked", { username, revoked })
  return { revoked }
})

const list = Effect.gen(function* () {
  const { sessionId } = yield* CurrentUser
  const found = yield* (yield* AdminSessions).list(yield* Clock.currentTimeMillis)
  return { items: found.map((one) => ({ ...listedSession.view(one), current: one.id === sessionId })) }
})

const end = Effect.fnUntraced(function* (id: string) {
  const { username } = yield* CurrentUser
  if (!(yield* (yield* AdminSessions).end(id))) return yield* notFound({ _tag: "SessionUnknown" })
  yield* Effect.logInfo("session revoked", { username, session_id: id })
})

const current = Effect.gen(function* () {
  const { expiresAt, role, username } = yield* CurrentUser
  const editor = yield* findEditor
  return withoutUndefined({
    username,
    role,
    refused: listRefusals(role),
    expires_at: maybeTime(expiresAt),
    config_source: editor !== undefined
  })
})

export const sessionLayer = HttpApiBuilder.group(AdminHttpApi, "sessions", (handlers) =>
  handlers.handleAll({
    current: () => current,
    list: () => orUnavailable(list),
    end: ({ params }) => orUnavailable(end(params.id)),
    link: () => orUnavailable(makeLink),
    logout: () => orUnavailable(logout),
    revoke: ({ payload }) => orUnavailable(revoke(payload.keep_current ?? false))
  })
)
