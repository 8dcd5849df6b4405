/**
 * The table of provider kinds: how each becomes a model of the AI SDK. A provider's package is loaded when it is first used.
 * Credentials are always handed over explicitly, so that no SDK picks up a key from the environment that the configuration
 * does not name.
 */
import { Redacted } from "effect"
import type { LanguageModel } from "ai"
import type { FetchFunction, ProviderOptions } from "@ai-sdk/provider-utils"
import type { LlmProvider } from "../config/schema/Llm.ts"
import { versioned } from "./ProviderSettings.ts"
import type { ProviderSettings } from "./ProviderSettings.ts"
import { anthropicThinking, googleThinking, openaiEffort } from "./Thinking.ts"

export type LlmProviderKind = LlmProvider["kind"]

/** What a row gives back: a model by name, and the options that go with every call to it. */
export interface Connection {
  readonly model: (name: string) => Exclude<LanguageModel, string>
  readonly options: ProviderOptions
}

export type ProviderRow =
  | {
      readonly available: true
      /** A call without a key cannot succeed. */
      readonly needsKey: boolean
      readonly needsBaseUrl: boolean
      readonly connect: (settings: ProviderSettings, fetch: FetchFunction) => Promise<Connection>
    }
  | { readonly available: false; readonly reason: string }

const keyOf = (settings: ProviderSettings): string => (settings.key === undefined ? "" : Redacted.value(settings.key))

const headersOf = (settings: ProviderSettings): Record<string, string> => ({ ...settings.config.extra_headers })

const apiVersion = ({ api_version }: LlmProvider) =>
  api_version === undefined ? {} : { queryParams: { "api-version": api_version } }

const openaiHost = "https://api.openai.com/v1"

const openaiCompatible = async (
  settings: ProviderSettings,
  fetch: FetchFunction,
  place: {
    readonly baseURL: (model: string) => string
    readonly headers?: Record<string, string>
    readonly queryParams?: Record<string, string>
    readonly bearer: boolean
    readonly maxTokensField?: string
  }
): Promise<Connection> => {
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible")
  const { config } = settings
  const key = keyOf(settings)
  const effort = openaiEffort(config)
  const budget = config.thinking_budget_tokens
  return {
    model: (name) =>
      createOpenAICompatible({
        name: "compatible",
        baseURL: place.baseURL(name),
        ...(place.bearer && key !== "" ? { apiKey: key } : {}),
        headers: {
          ...place.headers,
          ...(config.organization === undefined ? {} : { "openai-organization": config.organization }),
          ...headersOf(settings)
        },
        ...(place.queryParams === undefined ? {} : { queryParams: place.queryParams }),
        fetch,
        transformRequestBody: ({ max_tokens, ...body }) => ({
          ...body,
          ...(max_tokens === undefined ? {} : { [place.maxTokensField ?? "max_tokens"]: max_tokens }),
          ...(budget === undefined ? {} : { thinking: { type: "enabled", budget_tokens: budget } })
        })
      }).chatModel(name),
    options: effort === undefined ? {} : { compatible: { reasoningEffort: effort } }
  }
}

export const providers = {
  /** Chat completions at `base_url`; without one, OpenAI itself and its Responses API. */
  openai_compatible: {
    available: true,
    needsKey: false,
    needsBaseUrl: false,
    connect: async (settings, fetch) => {
      const { config } = settings
      const baseUrl = config.base_url?.replace(/\/+$/, "") ?? openaiHost
      if (baseUrl !== openaiHost) {
        return openaiCompatible(settings, fetch, { baseURL: () => baseUrl, bearer: true, ...apiVersion(config) })
      }
      const { createOpenAI } = await import("@ai-sdk/openai")
      const provider = createOpenAI({
        baseURL: baseUrl,
        apiKey: keyOf(settings),
        ...(config.organization === undefined ? {} : { organization: config.organization }),
        headers: headersOf(settings),
        fetch
      })
      const effort = openaiEffort(config)
      return {
        model: (name) => provider.responses(name),
        // Nothing of a review stays on the provider's servers.
        options: { openai: { store: false, ...(effort === undefined ? {} : { reasoningEffort: effort }) } }
      }
    }
  },

  /** With a dated `api_version` the deployment paths of old, else the v1 surface. The model name is the deployment's. */
  azure_openai: {
    available: true,
    needsKey: true,
    needsBaseUrl: true,
    connect: (settings, fetch) => {
      const root = (settings.config.base_url ?? "").replace(/\/+$/, "").replace(/\/openai(\/v1)?$/, "")
      const version = settings.config.api_version
      const dated = version !== undefined && /^\d{4}-\d{2}-\d{2}/.test(version)
      return openaiCompatible(settings, fetch, {
        baseURL: (model) => (dated ? `${root}/openai/deployments/${encodeURIComponent(model)}` : `${root}/openai/v1`),
        headers: { "api-key": keyOf(settings) },
        ...(version === "v1" ? {} : apiVersion(settings.config)),
        bearer: false,
        maxTokensField: "max_completion_tokens"
      })
    }
  },

  anthropic: {
    available: true,
    needsKey: true,
    needsBaseUrl: false,
    connect: async (settings, fetch) => {
      const { createAnthropic } = await import("@ai-sdk/anthropic")
      const { config } = settings
      const version = config.anthropic_version ?? config.api_version
      const provider = createAnthropic({
        baseURL: versioned(config.base_url ?? "https://api.anthropic.com", "/v1"),
        apiKey: keyOf(settings),
        headers: {
          ...(version === undefined ? {} : { "anthropic-version": version }),
          ...(config.anthropic_beta === undefined ? {} : { "anthropic-beta": config.anthropic_beta.join(",") }),
          ...headersOf(settings)
        },
        fetch
      })
      return {
        model: (name) => provider.languageModel(name),
        options: {
          anthropic: {
            ...anthropicThinking(config),
            // A review sends the same long prefix with every step: cached unless switched off.
            ...(config.cache_control === "off" ? {} : { cacheControl: { type: "ephemeral" } })
          }
        }
      }
    }
  },

  google_ai_studio: {
    available: true,
    needsKey: true,
    needsBaseUrl: false,
    connect: async (settings, fetch) => {
      const { createGoogle } = await import("@ai-sdk/google")
      const { config } = settings
      const provider = createGoogle({
        baseURL: versioned(
          config.base_url ?? "https://generativelanguage.googleapis.com",
          `/${config.api_version ?? "v1beta"}`
        ),
        apiKey: keyOf(settings),
        headers: headersOf(settings),
        fetch
      })
      return { model: (name) => provider.languageModel(name), options: { google: googleThinking(config) } }
    }
  },

  /** Through Ollama's OpenAI-compatible surface. */
  ollama: {
    available: true,
    needsKey: false,
    needsBaseUrl: false,
    connect: (settings, fetch) => {
      const baseUrl = versioned(settings.config.base_url ?? "http://127.0.0.1:11434", "/v1")
      return openaiCompatible(settings, fetch, { baseURL: () => baseUrl, bearer: true, ...apiVersion(settings.config) })
    }
  },

  vertex_ai: unavailable("vertex_ai", "google_ai_studio reaches the same models with an API key"),
  bedrock: unavailable("bedrock", "an OpenAI-compatible gateway in front of it works as openai_compatible"),
  copilot: unavailable("copilot", "use a provider with an API key of its own")
} satisfies Record<LlmProviderKind, ProviderRow>

function unavailable(kind: string, instead: string): ProviderRow {
  return { available: false, reason: `this build has no ${kind} provider; ${instead}` }
}

export const providerRow = (kind: LlmProviderKind): ProviderRow => providers[kind]

/**
 * Why calls to this provider cannot succeed as configured, or undefined: what doctor says and what the gateway answers before
 * anything is sent.
 */
export const providerProblem = (settings: ProviderSettings): string | undefined => {
  const { config, missingKey } = settings
  const row = providerRow(config.kind)
  if (!row.available) return row.reason
  if (missingKey !== undefined) return `the variable ${missingKey} named by api_key_env is not set; set it`
  const openaiItself = config.kind === "openai_compatible" && config.base_url === undefined
  if ((row.needsKey || openaiItself) && settings.key === undefined) {
    return openaiItself
      ? "neither a key nor a base_url is configured; set base_url, or api_key_env for OpenAI itself"
      : "no key is configured; set api_key_env"
  }
  if (row.needsBaseUrl && config.base_url === undefined) return "no base_url is configured; set it"
  return undefined
}
