/** `POST /login` and `POST /logout`. */
import { Effect } from "effect"
import { ConfigStore } from "../config/ConfigStore.ts"
import type { AdminCredentials } from "./AdminCredentials.ts"
import type { AdminRequest } from "./AdminApi.ts"
import { json, nothing, Refusal, time } from "./Answers.ts"
import { clientAddress, trustOf } from "./ClientAddress.ts"
import { fieldsOf, textIn } from "./Input.ts"
import { throttled } from "./LoginThrottle.ts"
import { closeSession, openSession } from "./Sessions.ts"

export const login = Effect.fnUntraced(function* (request: AdminRequest, credentials: AdminCredentials) {
  const { admin, server } = (yield* ConfigStore).current().document
  const fields = yield* fieldsOf(request)
  const username = yield* textIn(fields, "username")
  const password = yield* textIn(fields, "password")
  const address = clientAddress(request.address, request.headers["x-forwarded-for"], trustOf(server.trust_proxy))
  const answer = yield* throttled(
    address,
    username,
    Effect.sync(() => credentials.match(username, password))
  )
  switch (answer._tag) {
    case "Held":
      yield* Effect.logWarning(`A login from ${address} was refused: too many failures`)
      return yield* new Refusal({
        status: 429,
        code: "login_throttled",
        detail: `Too many failures. Try again in ${answer.seconds} seconds.`,
        headers: { "retry-after": String(answer.seconds) }
      })
    case "Wrong":
      yield* Effect.logWarning(`A login from ${address} failed`)
      return yield* new Refusal({
        status: 401,
        code: "invalid_credentials",
        detail: "The user name or the password is wrong."
      })
    case "Right": {
      const { expiresAt, token } = yield* openSession(credentials.username, admin.session_ttl_seconds)
      return json(200, { token, expires_at: time(expiresAt) })
    }
  }
})

export const logout = (token: string) => Effect.as(closeSession(token), nothing)
