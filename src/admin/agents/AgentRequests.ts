/** Handles requests of coding agents to `/mcp`: the bearer token of a program (TokenAccess.ts), limits, then the endpoint of the token. */
import { Clock, Effect } from "effect"
import { measureJson } from "../../domain/JsonShape.ts"
import type { Reason } from "../../domain/Reason.ts"
import { isUsable } from "../../domain/ServiceToken.ts"
import { ServiceTokens } from "../../store/ServiceTokens.ts"
import { inEnglish } from "../../text/en.ts"
import type { AdminRequest, AdminResponse } from "../AdminApi.ts"
import { orUnavailable } from "../handlers/Available.ts"
import { makeAgentEndpoints } from "./AgentEndpoints.ts"
import { makeTokenAccess } from "./TokenAccess.ts"

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

const held = (seconds: number): AdminResponse =>
  refuse(429, { _tag: "TooManyFailures", seconds }, { "retry-after": `${seconds}` })

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
  const access = makeTokenAccess()
  return (request: AdminRequest) =>
    Effect.gen(function* () {
      const accessed = yield* access(request)
      if (accessed._tag === "Held") return held(accessed.seconds)
      if (accessed._tag === "Refused") return refuse(401, { _tag: "TokenNeeded" }, challenge)
      const { token } = accessed
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
