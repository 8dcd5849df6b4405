/**
 * The table of provider kinds, with the AI SDK model of each. A provider's package is loaded on first use. Credentials are always
 * passed explicitly, so that no SDK reads a key from the environment that the configuration does not name.
 */
import type { Reason } from "../../domain/Reason.ts"
import type { LlmProvider } from "../../config/schema/Llm.ts"
import { bedrockRow } from "./Bedrock.ts"
import { copilotRow } from "./Copilot.ts"
import { ollamaFetch } from "./Ollama.ts"
import { apiVersion, openAiCompatible, toCacheKey } from "./OpenAiCompatible.ts"
import { toHeaders, requireKey } from "./ProviderRow.ts"
import type { ProviderRow } from "./ProviderRow.ts"
import { versioned } from "./ProviderSettings.ts"
import type { ProviderSettings } from "./ProviderSettings.ts"
import { anthropicThinking, googleThinking, openaiEffort } from "./Thinking.ts"
import { vertexRow } from "./Vertex.ts"

export type LlmProviderKind = LlmProvider["kind"]

const openaiHost = "https://api.openai.com/v1"

export const providers = {
  /** Chat completions at `base_url`; without one, OpenAI itself and its Responses API. */
  openai_compatible: {
    needsKey: false,
    needsBaseUrl: false,
    connect: async (settings, { fetch }) => {
      const { config } = settings
      const baseUrl = config.base_url?.replace(/(?<!\/)\/+$/, "") ?? openaiHost
      if (baseUrl !== openaiHost) {
        return openAiCompatible(settings, fetch, { baseURL: () => baseUrl, bearer: true, ...apiVersion(config) })
      }
      const { createOpenAI } = await import("@ai-sdk/openai")
      const provider = createOpenAI({
        baseURL: baseUrl,
        apiKey: requireKey(settings),
        ...(config.organization === undefined ? {} : { organization: config.organization }),
        headers: toHeaders(settings),
        fetch
      })
      const effort = openaiEffort(config)
      return {
        model: (name) => provider.responses(name),
        // The provider's servers store nothing of a review. Calls of one review are sent to the server that has their prefix.
        options: (runId) => ({
          openai: {
            store: false,
            promptCacheKey: toCacheKey(runId),
            // The SDK would omit the effort for unknown names of models.
            ...(effort === undefined ? {} : { reasoningEffort: effort, forceReasoning: true })
          }
        })
      }
    }
  },

  /** Uses the older deployment paths with a dated `api_version`, else the v1 API. The model name is that of the deployment. */
  azure_openai: {
    needsKey: true,
    needsBaseUrl: true,
    connect: (settings, { fetch }) => {
      const root = (settings.config.base_url ?? "").replace(/(?<!\/)\/+$/, "").replace(/\/openai(\/v1)?$/, "")
      const version = settings.config.api_version
      const dated = version !== undefined && /^\d{4}-\d{2}-\d{2}/.test(version)
      return openAiCompatible(settings, fetch, {
        baseURL: (model) => (dated ? `${root}/openai/deployments/${encodeURIComponent(model)}` : `${root}/openai/v1`),
        headers: { "api-key": requireKey(settings) },
        ...(version === "v1" ? {} : apiVersion(settings.config)),
        bearer: false,
        maxTokensField: "max_completion_tokens",
        // Dated versions refuse fields that are newer than they are.
        sendsCacheKey: !dated
      })
    }
  },

  anthropic: {
    needsKey: true,
    needsBaseUrl: false,
    connect: async (settings, { fetch }) => {
      const { createAnthropic } = await import("@ai-sdk/anthropic")
      const { config } = settings
      const version = config.anthropic_version ?? config.api_version
      const provider = createAnthropic({
        baseURL: versioned(config.base_url ?? "https://api.anthropic.com", "/v1"),
        apiKey: requireKey(settings),
        headers: {
          ...(version === undefined ? {} : { "anthropic-version": version }),
          ...(config.anthropic_beta === undefined ? {} : { "anthropic-beta": config.anthropic_beta.join(",") }),
          ...toHeaders(settings)
        },
        fetch
      })
      return {
        model: (name) => provider.languageModel(name),
        options: () => ({ anthropic: anthropicThinking(config) }),
        // The calls of a review share long prefixes, so they are cached unless disabled.
        cacheMark: () =>
          config.cache_control === "off" ? undefined : { anthropic: { cacheControl: { type: "ephemeral" } } }
      }
    }
  },

  google_ai_studio: {
    needsKey: true,
    needsBaseUrl: false,
    connect: async (settings, { fetch }) => {
      const { createGoogle } = await import("@ai-sdk/google")
      const { config } = settings
      const provider = createGoogle({
        baseURL: versioned(
          config.base_url ?? "https://generativelanguage.googleapis.com",
          `/${config.api_version ?? "v1beta"}`
        ),
        apiKey: requireKey(settings),
        headers: toHeaders(settings),
        fetch
      })
      return { model: (name) => provider.languageModel(name), options: () => ({ google: googleThinking(config) }) }
    }
  },

  /** Uses Ollama's OpenAI-compatible API while the prompt fits its default window. */
  ollama: {
    needsKey: false,
    needsBaseUrl: false,
    connect: (settings, { fetch }) => {
      const baseUrl = versioned(settings.config.base_url ?? "http://127.0.0.1:11434", "/v1")
      return openAiCompatible(settings, ollamaFetch(fetch, baseUrl, settings.config.context_window), {
        baseURL: () => baseUrl,
        bearer: true,
        ...apiVersion(settings.config)
      })
    }
  },

  vertex_ai: vertexRow,
  bedrock: bedrockRow,
  copilot: copilotRow
} satisfies Record<LlmProviderKind, ProviderRow>

export const providerRow = (kind: LlmProviderKind): ProviderRow => providers[kind]

/**
 * Returns why calls to this provider cannot succeed as configured, or undefined. Used by doctor, and by the gateway before it
 * sends a request.
 */
export const providerProblem = (settings: ProviderSettings): Reason | undefined => {
  const { config, missing } = settings
  const row = providerRow(config.kind)
  const [unset] = missing
  if (unset !== undefined) return { _tag: "NamedVariableUnset", variable: unset.variable, field: unset.field }
  const openaiItself = config.kind === "openai_compatible" && config.base_url === undefined
  if ((row.needsKey || openaiItself) && settings.key === undefined) {
    return { _tag: openaiItself ? "OpenaiUnconfigured" : "ProviderKeyUnset" }
  }
  if (row.needsBaseUrl && config.base_url === undefined) return { _tag: "ProviderUrlUnset" }
  return row.problem?.(settings)
}
