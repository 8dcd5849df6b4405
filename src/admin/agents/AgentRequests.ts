/**
 * Handles requests of coding agents to `/mcp`: the bearer token of a program, limits, then the endpoint of the token. The record of the token is
 * read for each request, so that a revocation holds immediately on every node. Wrong tokens are counted like failed logins, over all nodes, and
 * their client is refused for the rest of the window without another read.
 */
import { Clock, Effect } from "effect"
import { measureJson } from "../../domain/JsonShape.ts"
import type { Reason } from "../../domain/Reason.ts"
import { digestToken, isUsable } from "../../domain/ServiceToken.ts"
import { limitWarning } from "../../observability/LimitedWarnings.ts"
import { LoginAttempts } from "../../store/LoginAttempts.ts"
import { ServiceTokens } from "../../store/ServiceTokens.ts"
import { inEnglish } from "../../text/en.ts"
import type { AdminRequest, AdminResponse } from "../AdminApi.ts"
import { orUnavailable } from "../handlers/Available.ts"
import { failureLimits, parseBearer } from "../sessions/Sessions.ts"
import { makeAgentEndpoints } from "./AgentEndpoints.ts"

/** Duration of a call after which its token is read again: it may have been revoked while the call waited. */
const recheckMillis = 1000

const shape = { depth: 16, values: 1000 }

/** The error of a request that reaches no tool, as MCP clients read it. */
const refuse = (status: number, why: Reason, headers: Record<string, string> = {}): AdminResponse => ({
  status,
  contentType: "application/json",
  body: JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32_600, message: inEnglish(why) } }),
  headers: { "cache-control": "no-store", ...headers }
})

const challenge = { "www-authenticate": 'Bearer realm="agents"' }

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

const held = (seconds: number): AdminResponse =>
  refuse(429, { _tag: "TooManyFailures", seconds }, { "retry-after": `${seconds}` })

const authenticate = Effect.fnUntraced(function* ({ address, client, headers }: AdminRequest, clients: HeldClients) {
  const now = yield* Clock.currentTimeMillis
  const seconds = clients.seconds(client, now)
  if (seconds > 0) return held(seconds)
  const digest = digestToken(parseBearer(headers["authorization"]) ?? "")
  const tokens = yield* ServiceTokens
  const token = digest === undefined ? undefined : yield* tokens.find(digest)
  if (token !== undefined && isUsable(token, now)) {
    yield* tokens.use(token, now)
    return token
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
  if (attempt._tag === "Begun") return refuse(401, { _tag: "TokenNeeded" }, challenge)
  clients.hold(client, attempt.until)
  return held(Math.max(1, Math.ceil((attempt.until - now) / 1000)))
})

/** Returns the message of a request: one, because each may wait. */
const readMessage = (body: Uint8Array): { readonly text: string; readonly initialises: boolean } | Reason => {
  const text = Buffer.from(body).toString("utf8")
  if (measureJson(text, shape) === undefined) return { _tag: "BodyTooDeep", count: shape.depth }
  try {
    const message: unknown = JSON.parse(text)
    if (typeof message !== "object" || message === null || Array.isArray(message)) return { _tag: "ObjectExpected" }
    return { text, initialises: "method" in message && message.method === "initialize" }
  } catch {
    return { _tag: "BodyNotJson" }
  }
}

const toResponse = async (response: Response): Promise<AdminResponse> => {
  const {
    "content-length": _,
    "content-type": contentType = "application/json",
    ...headers
  } = Object.fromEntries(response.headers)
  return {
    status: response.status,
    contentType,
    body: await response.text(),
    headers: { ...headers, "cache-control": "no-store", "x-content-type-options": "nosniff" }
  }
}

export const makeAgentRequests = Effect.gen(function* () {
  const handle = yield* makeAgentEndpoints
  const clients = new HeldClients()
  return (request: AdminRequest) =>
    Effect.gen(function* () {
      const token = yield* authenticate(request, clients)
      if ("status" in token) return token
      const message = readMessage(request.body)
      if ("_tag" in message) return refuse(400, message)
      const { id, name, repositories, scopes } = token
      const rights = { id, name, repositories, scopes }
      const { initialises, text } = message
      const since = yield* Clock.currentTimeMillis
      const response = yield* handle(rights, initialises, { headers: request.headers, body: text })
      const now = yield* Clock.currentTimeMillis
      if (now - since >= recheckMillis) {
        const current = yield* (yield* ServiceTokens).find(token.digest)
        if (current === undefined || !isUsable(current, now)) return refuse(401, { _tag: "TokenNeeded" }, challenge)
      }
      return response === undefined
        ? refuse(429, { _tag: "TooManyAgentRequests" }, { "retry-after": "5" })
        : yield* Effect.promise(() => toResponse(response))
    }).pipe(
      orUnavailable,
      Effect.catch(({ reason }) => Effect.succeed(refuse(503, reason, { "retry-after": "5" })))
    )
})
