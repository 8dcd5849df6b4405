/** The API of one Feishu or Lark application (open.feishu.cn), with its access token. */
import { Effect, Redacted } from "effect"
import { requestFailed } from "../../forge/ForgeError.ts"
import type { ForgeError } from "../../forge/ForgeError.ts"
import { makeAccessToken } from "../platform/AccessToken.ts"
import { callPlatform } from "../platform/PlatformCall.ts"
import type { PlatformRequest } from "../platform/PlatformCall.ts"
import { numberAt, textAt } from "../platform/ReadJson.ts"
import type { JsonObject } from "../platform/ReadJson.ts"

export interface FeishuApp {
  readonly baseUrl: string
  readonly appId: string
  readonly secret: Redacted.Redacted
}

export interface FeishuApi {
  /** `path`: with its query. `shown`: name of the path in errors. */
  readonly call: (
    method: PlatformRequest["method"],
    path: string,
    shown: string,
    body?: object
  ) => Effect.Effect<JsonObject, ForgeError>
}

/** The platform returns the same token until 30 minutes before its end. */
const refreshBeforeMillis = 25 * 60 * 1000

const tokenPath = "/open-apis/auth/v3/tenant_access_token/internal"

export const makeFeishuApi = ({ appId, baseUrl, secret }: FeishuApp): FeishuApi => {
  const secrets = [Redacted.value(secret)]
  const token = makeAccessToken(
    Effect.gen(function* () {
      const operation = `POST ${tokenPath}`
      const body = { app_id: appId, app_secret: Redacted.value(secret) }
      const response = yield* callPlatform({
        operation,
        method: "POST",
        url: `${baseUrl}${tokenPath}`,
        body,
        writes: false,
        secrets
      })
      const received = textAt(response, ["tenant_access_token"], 4096)
      if (received === undefined) return yield* requestFailed("invalid", operation, { _tag: "NoTokenReturned" })
      return { token: Redacted.make(received), lifetimeMillis: (numberAt(response, "expire") ?? 7200) * 1000 }
    }),
    refreshBeforeMillis
  )
  return {
    call: (method, path, shown, body) =>
      token.use((bearer) =>
        callPlatform({
          operation: `${method} ${shown}`,
          method,
          url: `${baseUrl}${path}`,
          headers: { authorization: `Bearer ${bearer}` },
          body,
          writes: method !== "GET",
          secrets: [...secrets, bearer]
        })
      )
  }
}
