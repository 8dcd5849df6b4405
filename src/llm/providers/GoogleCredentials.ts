/**
 * Access tokens of Google Cloud from `google_application_credentials`: the JSON of a service account key or of a user's own login
 * (`gcloud auth application-default login`), or the path of its file. The token is requested through the provider's own
 * transport, so that its proxy applies.
 */
import { readFile } from "node:fs/promises"
import type { FetchFunction } from "@ai-sdk/provider-utils"
import { Redacted, Result, Schema } from "effect"
import { signJwt } from "../../domain/SignJwt.ts"
import { NotConfigured } from "./ProviderRow.ts"
import type { Issued } from "./ShortLivedToken.ts"
import { signIn } from "./SignIn.ts"

const ServiceAccount = Schema.Struct({
  type: Schema.Literal("service_account"),
  client_email: Schema.String,
  private_key: Schema.String,
  private_key_id: Schema.optional(Schema.String),
  project_id: Schema.optional(Schema.String),
  token_uri: Schema.optional(Schema.String)
})
const UserLogin = Schema.Struct({
  type: Schema.Literal("authorized_user"),
  client_id: Schema.String,
  client_secret: Schema.String,
  refresh_token: Schema.String,
  quota_project_id: Schema.optional(Schema.String)
})
const GoogleKey = Schema.Union([ServiceAccount, UserLogin])
type GoogleKey = typeof GoogleKey.Type

const tokenUri = "https://oauth2.googleapis.com/token"
const scope = "https://www.googleapis.com/auth/cloud-platform"

export const readGoogleKey = async (given: Redacted.Redacted): Promise<GoogleKey> => {
  const value = Redacted.value(given).trim()
  const text = value.startsWith("{") ? value : await readText(value)
  const decoded = Schema.decodeUnknownResult(Schema.fromJsonString(GoogleKey))(text)
  if (Result.isSuccess(decoded)) return decoded.success
  throw new NotConfigured({ _tag: "GoogleKeyInvalid" })
}

const readText = async (path: string): Promise<string> => {
  try {
    return await readFile(path, "utf8")
  } catch {
    throw new NotConfigured({ _tag: "GoogleKeyUnreadable" })
  }
}

/** Returns the project of a key, if the key names it. */
export const findProject = (key: GoogleKey): string | undefined =>
  key.type === "service_account" ? key.project_id : key.quota_project_id

const TokenResponse = Schema.Struct({ access_token: Schema.String, expires_in: Schema.optional(Schema.Number) })

export const googleToken =
  (key: GoogleKey, fetch: FetchFunction) =>
  async (signal: AbortSignal): Promise<Issued> => {
    const began = Date.now()
    const uri = key.type === "service_account" ? (key.token_uri ?? tokenUri) : tokenUri
    const form: Record<string, string> =
      key.type === "service_account"
        ? { grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion: assertion(key, uri, began) }
        : {
            grant_type: "refresh_token",
            client_id: key.client_id,
            client_secret: key.client_secret,
            refresh_token: key.refresh_token
          }
    const token = await signIn(
      fetch,
      uri,
      {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
        body: new URLSearchParams(form).toString(),
        signal
      },
      TokenResponse,
      "signing in to Google Cloud"
    )
    return { token: token.access_token, expiresAt: began + (token.expires_in ?? 3600) * 1000 }
  }

const assertion = (key: typeof ServiceAccount.Type, audience: string, now: number): string => {
  const seconds = Math.floor(now / 1000)
  const header = key.private_key_id === undefined ? {} : { kid: key.private_key_id }
  try {
    return signJwt(
      { iss: key.client_email, scope, aud: audience, iat: seconds, exp: seconds + 3600 },
      key.private_key,
      header
    )
  } catch {
    throw new NotConfigured({ _tag: "GooglePrivateKeyUnusable" })
  }
}
