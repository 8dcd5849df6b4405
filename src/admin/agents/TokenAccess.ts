/**
 * Authenticates a program by its bearer token. The record of the token is read for each request, so that a revocation holds immediately on
 * every node. Wrong tokens are counted like failed logins, over all nodes, and their client is refused for the rest of the window without
 * another read.
 */
import { Clock, Effect } from "effect"
import { digestToken, isUsable } from "../../domain/ServiceToken.ts"
import type { ServiceToken } from "../../domain/ServiceToken.ts"
import { limitWarning } from "../../observability/LimitedWarnings.ts"
import { LoginAttempts } from "../../store/LoginAttempts.ts"
import { ServiceTokens } from "../../store/ServiceTokens.ts"
import type { AdminRequest } from "../AdminApi.ts"
import { failureLimits, parseBearer } from "../sessions/Sessions.ts"

/** Clients that are refused until a time. */
class HeldClients {
  readonly #until = new Map<string, number>()

  seconds(client: string, now: number): number {
    const until = this.#until.get(client) ?? 0
    if (until <= now) this.#until.delete(client)
    return Math.max(0, Math.ceil((until - now) / 1000))
  }

  hold(client: string, until: number): void {
    this.#until.set(client, until)
    for (const [oldest] of this.#until) {
      if (this.#until.size <= failureLimits.total) break
      this.#until.delete(oldest)
    }
  }
}

/** `Held`: too many failures, for this number of seconds. `Refused`: the token is unknown or has ended. */
type TokenAccess =
  | { readonly _tag: "Granted"; readonly token: ServiceToken }
  | { readonly _tag: "Held"; readonly seconds: number }
  | { readonly _tag: "Refused" }

const refused: TokenAccess = { _tag: "Refused" }

/** Returns a function that authenticates requests. */
export const makeTokenAccess = () => {
  const clients = new HeldClients()
  return Effect.fnUntraced(function* ({ address, client, headers }: AdminRequest) {
    const now = yield* Clock.currentTimeMillis
    const seconds = clients.seconds(client, now)
    if (seconds > 0) return { _tag: "Held", seconds } satisfies TokenAccess
    const digest = digestToken(parseBearer(headers["authorization"]) ?? "")
    const tokens = yield* ServiceTokens
    const token = digest === undefined ? undefined : yield* tokens.find(digest)
    if (token !== undefined && isUsable(token, now)) {
      yield* tokens.use(token, now)
      return { _tag: "Granted", token } satisfies TokenAccess
    }
    const subjects = { client: `token:${client}`, user: "token" }
    const attempt = yield* (yield* LoginAttempts).begin(subjects, failureLimits, now)
    yield* limitWarning("token refused", (suppressed) =>
      Effect.logWarning("token of a program refused", {
        address,
        suppressed,
        ...(token === undefined ? {} : { token_id: token.id, name: token.name })
      })
    )
    if (attempt._tag === "Begun") return refused
    clients.hold(client, attempt.until)
    return { _tag: "Held", seconds: Math.max(1, Math.ceil((attempt.until - now) / 1000)) } satisfies TokenAccess
  })
}
