/** Handles `POST /login`, `/logout` and `/sessions/revoke`. */
import { Effect } from "effect"
import { ConfigStore } from "../config/ConfigStore.ts"
import type { AdminCredentials } from "./AdminCredentials.ts"
import type { AdminRequest } from "./AdminApi.ts"
import { json, nothing, AdminRefusal, time } from "./Answers.ts"
import { parseFields, readFlag, readText } from "./Input.ts"
import { throttled } from "./LoginThrottle.ts"
import { closeSession, openSession, revokeSessions } from "./Sessions.ts"

export const login = Effect.fnUntraced(function* (request: AdminRequest, credentials: AdminCredentials) {
  const { admin } = (yield* ConfigStore).current().document
  const fields = yield* parseFields(request)
  const username = yield* readText(fields, "username")
  const password = yield* readText(fields, "password")
  const { address, client } = request
  const answer = yield* throttled(
    client,
    username,
    Effect.sync(() => credentials.match(username, password))
  )
  switch (answer._tag) {
    case "Held":
      yield* Effect.logWarning("login throttled", { address })
      return yield* new AdminRefusal({
        status: 429,
        code: "login_throttled",
        detail: `Too many failures. Try again in ${answer.seconds} seconds.`,
        headers: { "retry-after": String(answer.seconds) }
      })
    case "Wrong":
      yield* Effect.logWarning("login failed", { address })
      return yield* new AdminRefusal({
        status: 401,
        code: "invalid_credentials",
        detail: "The user name or the password is wrong."
      })
    case "Right": {
      const { expiresAt, token } = yield* openSession(credentials, admin.session_ttl_seconds)
      return json(200, { token, expires_at: time(expiresAt) })
    }
  }
})

export const logout = (_request: AdminRequest, token: string, credentials: AdminCredentials) =>
  Effect.as(closeSession(token, credentials), nothing)

/** Ends all sessions; with `{"keep_current": true}` all except the caller's. */
export const revoke = Effect.fnUntraced(function* (
  request: AdminRequest,
  token: string,
  credentials: AdminCredentials
) {
  const fields = request.body.length === 0 ? new Map<string, unknown>() : yield* parseFields(request)
  const keepsCurrent = yield* readFlag(fields, "keep_current", ["keep_current"])
  const revoked = yield* revokeSessions(keepsCurrent ? token : undefined, credentials)
  yield* Effect.logInfo("sessions of administrators revoked").pipe(
    Effect.annotateLogs({ username: credentials.username, revoked })
  )
  return json(200, { revoked })
})
