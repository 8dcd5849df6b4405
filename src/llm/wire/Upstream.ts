/**
 * Addresses and credentials of providers with the API of an agent. Everything that leads elsewhere comes from the configuration: of the
 * agent's request only the body is sent, and the version and betas of Anthropic's API.
 */
import { Redacted } from "effect"
import { requireKey, toHeaders } from "../providers/ProviderRow.ts"
import { versioned } from "../providers/ProviderSettings.ts"
import type { ProviderSettings } from "../providers/ProviderSettings.ts"
import type { WireCall } from "../WireGateway.ts"
import { chatgptHost, hasFormat, isOpenAiHost, openaiHost } from "../ProviderFormat.ts"

export interface Upstream {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly isOpenAi: boolean
  /** Fields of the body that the server refuses. */
  readonly refused?: ReadonlyArray<string>
}

type Request = Pick<WireCall, "format" | "streams" | "headers">

const trim = (url: string): string => url.replace(/(?<!\/)\/+$/, "")

const query = (version: string | undefined): string =>
  version === undefined ? "" : `?api-version=${encodeURIComponent(version)}`

/** Sends the token of a ChatGPT workspace. `organization` is the id of the workspace. */
const chatgpt = (settings: ProviderSettings): Upstream => ({
  url: `${trim(settings.config.base_url ?? chatgptHost)}/responses`,
  headers: {
    authorization: `Bearer ${requireKey(settings)}`,
    ...(settings.config.organization === undefined ? {} : { "chatgpt-account-id": settings.config.organization }),
    ...toHeaders(settings)
  },
  isOpenAi: true,
  refused: ["max_output_tokens"]
})

const openAi = (settings: ProviderSettings, { format }: Request): Upstream => {
  const { config, key } = settings
  const base = trim(config.base_url ?? openaiHost)
  const isOpenAi = isOpenAiHost(config.base_url)
  const path = format === "openai-chat" ? "chat/completions" : "responses"
  return {
    url: `${base}/${path}${isOpenAi ? "" : query(config.api_version)}`,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${Redacted.value(key)}` }),
      ...(config.organization === undefined ? {} : { "openai-organization": config.organization }),
      ...toHeaders(settings)
    },
    isOpenAi
  }
}

const azure = (settings: ProviderSettings, model: string): Upstream => {
  const { api_version: version, base_url = "" } = settings.config
  const root = trim(base_url).replace(/\/openai(\/v1)?$/, "")
  const dated = version !== undefined && /^\d{4}-\d{2}-\d{2}/.test(version)
  const path = dated ? `openai/deployments/${encodeURIComponent(model)}` : "openai/v1"
  return {
    url: `${root}/${path}/chat/completions${version === "v1" ? "" : query(version)}`,
    headers: { "api-key": requireKey(settings), ...toHeaders(settings) },
    isOpenAi: true
  }
}

/** Additions to the API that an agent may use: those of fields that it may send. Others reach further services or cost more. */
const agentBeta =
  /^(claude-code|context-management|effort|fine-grained-tool-streaming|interleaved-thinking|mid-conversation-tool-changes|prompt-caching|redact-thinking|structured-outputs|thinking-display-updates|thinking-token-count|token-efficient-tools|web-search)-\d{4}-\d{2}-\d{2}$/

/** Anthropic accepts tokens of subscriptions with this addition only. */
const subscriptionBeta = "oauth-2025-04-20"

const anthropic = (settings: ProviderSettings, { headers }: Request): Upstream => {
  const { config } = settings
  const requested = headers["anthropic-beta"]?.split(",").map((beta) => beta.trim()) ?? []
  const betas = [
    ...(config.subscription === true ? [subscriptionBeta] : []),
    ...(config.anthropic_beta ?? []),
    ...requested.filter((beta) => agentBeta.test(beta))
  ]
  const version = config.anthropic_version ?? config.api_version ?? "2023-06-01"
  return {
    url: `${versioned(config.base_url ?? "https://api.anthropic.com", "/v1")}/messages`,
    headers: {
      ...(config.subscription === true
        ? { authorization: `Bearer ${requireKey(settings)}` }
        : { "x-api-key": requireKey(settings) }),
      "anthropic-version": version,
      ...(betas.length === 0 ? {} : { "anthropic-beta": [...new Set(betas)].slice(0, 32).join(",") }),
      ...toHeaders(settings)
    },
    isOpenAi: false
  }
}

const gemini = (settings: ProviderSettings, model: string, { streams }: Request): Upstream => {
  const { config } = settings
  const base = versioned(
    config.base_url ?? "https://generativelanguage.googleapis.com",
    `/${config.api_version ?? "v1beta"}`
  )
  const method = streams ? "streamGenerateContent?alt=sse" : "generateContent"
  return {
    url: `${base}/models/${encodeURIComponent(model)}:${method}`,
    headers: { "x-goog-api-key": requireKey(settings), ...toHeaders(settings) },
    isOpenAi: false
  }
}

/** Undefined: the provider has another API, or a sign-in of its own, and the call is translated. */
export const findUpstream = (settings: ProviderSettings, model: string, request: Request): Upstream | undefined => {
  if (!hasFormat(settings.config, request.format)) return undefined
  switch (settings.config.kind) {
    case "openai_compatible":
      return settings.config.subscription === true ? chatgpt(settings) : openAi(settings, request)
    case "azure_openai":
      return azure(settings, model)
    case "anthropic":
      return anthropic(settings, request)
    case "google_ai_studio":
      return gemini(settings, model, request)
    default:
      return undefined
  }
}
