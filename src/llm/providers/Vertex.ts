/**
 * Vertex AI: Gemini and Claude models of a Google Cloud project, signed in with `google_application_credentials`, or only Gemini
 * with an API key (`api_key`, "express mode", without a project). `vertex_location` defaults to `global`; `base_url` replaces the
 * host, for private endpoints and gateways; `api_version` replaces the version in the path.
 */
import type { FetchFunction } from "@ai-sdk/provider-utils"
import { toHeaders, requireKey, NotConfigured } from "./ProviderRow.ts"
import type { ProviderConnection, ProviderRow } from "./ProviderRow.ts"
import { versioned } from "./ProviderSettings.ts"
import type { ProviderSettings } from "./ProviderSettings.ts"
import { shortLivedToken } from "./ShortLivedToken.ts"
import type { ShortLivedToken, Issued } from "./ShortLivedToken.ts"
import { anthropicThinking, googleThinking } from "./Thinking.ts"
import { readFile } from "node:fs/promises"
import { Redacted, Result, Schema } from "effect"
import { signJwt } from "../../domain/SignJwt.ts"
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

/**
 * Access tokens of Google Cloud from `google_application_credentials`: the JSON of a service account key or of a user's own login
 * (`gcloud auth application-default login`), or the path of its file. The token is requested through the provider's own
 * transport, so that its proxy applies.
 */
const readGoogleKey = async (given: Redacted.Redacted): Promise<GoogleKey> => {
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
const findProject = (key: GoogleKey): string | undefined =>
  key.type === "service_account" ? key.project_id : key.quota_project_id

const TokenResponse = Schema.Struct({ access_token: Schema.String, expires_in: Schema.optional(Schema.Number) })

const googleToken =
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

export const vertexRow: ProviderRow = {
  needsKey: false,
  needsBaseUrl: false,
  problem: ({ key, credentials }) =>
    key === undefined && credentials.google_application_credentials === undefined
      ? { _tag: "VertexCredentialsUnset" }
      : undefined,
  connect: async (settings, http) => {
    const given = settings.credentials.google_application_credentials
    return given === undefined ? express(settings, http.fetch) : project(settings, await readGoogleKey(given), http)
  }
}

const isClaude = (model: string): boolean => model.startsWith("claude")

const express = async (settings: ProviderSettings, fetch: FetchFunction): Promise<ProviderConnection> => {
  const { createGoogleVertex } = await import("@ai-sdk/google-vertex/edge")
  const { config } = settings
  const root = versioned(config.base_url ?? toHost("global"), `/${config.api_version ?? "v1"}`)
  const provider = createGoogleVertex({
    apiKey: requireKey(settings),
    baseURL: `${root}/publishers/google`,
    headers: toHeaders(settings),
    fetch
  })
  return {
    model: (name) => {
      if (isClaude(name)) {
        throw new NotConfigured({ _tag: "VertexClaudeWithKey" })
      }
      return provider.languageModel(name)
    },
    options: () => ({ google: googleThinking(config) })
  }
}

const project = async (
  settings: ProviderSettings,
  key: Awaited<ReturnType<typeof readGoogleKey>>,
  http: { readonly fetch: FetchFunction; readonly plain: FetchFunction }
): Promise<ProviderConnection> => {
  const [{ createGoogleVertex }, { createGoogleVertexAnthropic }] = await Promise.all([
    import("@ai-sdk/google-vertex/edge"),
    import("@ai-sdk/google-vertex/anthropic/edge")
  ])
  const { config } = settings
  const name = config.vertex_project ?? findProject(key)
  if (name === undefined) throw new NotConfigured({ _tag: "VertexProjectUnset" })
  const location = config.vertex_location ?? "global"
  const place = (version: string) =>
    `${versioned(config.base_url ?? toHost(location), `/${config.api_version ?? version}`)}/projects/${name}/locations/${location}`
  const token = shortLivedToken(googleToken(key, http.plain))
  const fetch = authorized(http.fetch, token)
  const gemini = createGoogleVertex({
    // The SDK would sign in itself, without the configured proxy and limits; `authorized` replaces this.
    apiKey: "none",
    baseURL: `${place("v1beta1")}/publishers/google`,
    headers: toHeaders(settings),
    fetch
  })
  const claude = createGoogleVertexAnthropic({
    generateAuthToken: () => Promise.resolve("none"),
    baseURL: `${place("v1")}/publishers/anthropic/models`,
    headers: toHeaders(settings),
    fetch
  })
  return {
    model: (model) => (isClaude(model) ? claude.languageModel(model) : gemini.languageModel(model)),
    options: () => ({ google: googleThinking(config), anthropic: anthropicThinking(config) }),
    cacheMark: (model) => (isClaude(model) ? { anthropic: { cacheControl: { type: "ephemeral" } } } : undefined)
  }
}

const authorized =
  (fetch: FetchFunction, token: ShortLivedToken<Issued>): FetchFunction =>
  (input, init) =>
    token.use((held) => {
      const headers = new Headers(init?.headers)
      headers.delete("x-goog-api-key")
      headers.set("authorization", `Bearer ${held.token}`)
      return fetch(input, { ...init, headers })
    })

const toHost = (location: string): string => {
  if (!/^[a-z0-9-]+$/.test(location)) throw new NotConfigured({ _tag: "VertexLocationInvalid", location })
  if (location === "global") return "https://aiplatform.googleapis.com"
  return location === "eu" || location === "us"
    ? `https://aiplatform.${location}.rep.googleapis.com`
    : `https://${location}-aiplatform.googleapis.com`
}
