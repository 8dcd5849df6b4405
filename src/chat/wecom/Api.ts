/** The API of one WeCom application (developer.work.weixin.qq.com), with its access token. */
import { Effect, Redacted } from "effect"
import { requestFailed } from "../../forge/ForgeError.ts"
import type { ForgeError } from "../../forge/ForgeError.ts"
import { makeAccessToken } from "../platform/AccessToken.ts"
import { callPlatform } from "../platform/PlatformCall.ts"
import { numberAt, textAt } from "../platform/ReadJson.ts"
import type { JsonObject } from "../platform/ReadJson.ts"

export interface WecomApp {
  readonly baseUrl: string
  readonly corpId: string
  readonly agentId: string
  readonly secret: Redacted.Redacted
}

export interface WecomApi {
  /** Gets a token, and nothing else. */
  readonly check: Effect.Effect<void, ForgeError>
  readonly get: (path: string, query?: Readonly<Record<string, string>>) => Effect.Effect<JsonObject, ForgeError>
  readonly post: (path: string, body: object) => Effect.Effect<JsonObject, ForgeError>
}

const refreshBeforeMillis = 5 * 60 * 1000

export const makeWecomApi = ({ baseUrl, corpId, secret }: WecomApp): WecomApi => {
  const secrets = [Redacted.value(secret)]
  const token = makeAccessToken(
    Effect.gen(function* () {
      const operation = "GET /cgi-bin/gettoken"
      const query = new URLSearchParams({ corpid: corpId, corpsecret: Redacted.value(secret) })
      const url = `${baseUrl}/cgi-bin/gettoken?${query}`
      const response = yield* callPlatform({ operation, method: "GET", url, writes: false, secrets })
      const received = textAt(response, ["access_token"], 4096)
      if (received === undefined) return yield* requestFailed("invalid", operation, { _tag: "NoTokenReturned" })
      return { token: Redacted.make(received), lifetimeMillis: (numberAt(response, "expires_in") ?? 7200) * 1000 }
    }),
    refreshBeforeMillis
  )
  const call = (method: "GET" | "POST", path: string, query: Readonly<Record<string, string>>, body?: object) =>
    token.use((received) =>
      callPlatform({
        operation: `${method} ${path}`,
        method,
        url: `${baseUrl}${path}?${new URLSearchParams({ ...query, access_token: received })}`,
        body,
        writes: method === "POST",
        secrets: [...secrets, received]
      })
    )
  return {
    check: token.use(() => Effect.void),
    get: (path, query = {}) => call("GET", path, query),
    post: (path, body) => call("POST", path, {}, body)
  }
}
