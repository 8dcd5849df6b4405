/**
 * Vertex AI: Gemini and Claude models of a Google Cloud project, signed in with `google_application_credentials`, or only Gemini
 * with an API key (`api_key`, "express mode", without a project). `vertex_location` defaults to `global`; `base_url` replaces the
 * host, for private endpoints and gateways; `api_version` replaces the version in the path.
 */
import type { FetchFunction } from "@ai-sdk/provider-utils"
import { googleToken, findProject, readGoogleKey } from "./GoogleCredentials.ts"
import { toHeaders, requireKey, NotConfigured } from "./ProviderRow.ts"
import type { ProviderConnection, ProviderRow } from "./ProviderRow.ts"
import { versioned } from "./ProviderSettings.ts"
import type { ProviderSettings } from "./ProviderSettings.ts"
import { shortLivedToken } from "./ShortLivedToken.ts"
import type { ShortLivedToken, Issued } from "./ShortLivedToken.ts"
import { anthropicThinking, googleThinking } from "./Thinking.ts"

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
