/** Chat completions at any URL: the protocol of OpenAI-compatible servers, Azure, Ollama and Copilot. */
import type { FetchFunction } from "@ai-sdk/provider-utils"
import type { LlmProvider } from "../../config/schema/Llm.ts"
import { toHeaders, requireKey } from "./ProviderRow.ts"
import type { ProviderConnection } from "./ProviderRow.ts"
import type { ProviderSettings } from "./ProviderSettings.ts"
import { openaiEffort } from "./Thinking.ts"
import { wholeAsStream } from "./WholeResponse.ts"

export const apiVersion = ({ api_version }: LlmProvider) =>
  api_version === undefined ? {} : { queryParams: { "api-version": api_version } }

/** Returns the key that sends the calls of one review to the server that has their prefix in its cache. */
export const toCacheKey = (runId: string): string => `aicr-${runId}`.slice(0, 64)

export const openAiCompatible = async (
  settings: ProviderSettings,
  fetch: FetchFunction,
  place: {
    readonly baseURL: (model: string) => string
    readonly headers?: Record<string, string>
    readonly queryParams?: Record<string, string>
    readonly bearer: boolean
    readonly maxTokensField?: string
    /** True if the server accepts `prompt_cache_key`. */
    readonly sendsCacheKey?: boolean
  }
): Promise<ProviderConnection> => {
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible")
  const { config } = settings
  const key = requireKey(settings)
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
          ...toHeaders(settings)
        },
        ...(place.queryParams === undefined ? {} : { queryParams: place.queryParams }),
        fetch: wholeAsStream(fetch),
        includeUsage: true,
        transformRequestBody: ({ max_tokens, ...body }) => ({
          ...body,
          ...(max_tokens === undefined ? {} : { [place.maxTokensField ?? "max_tokens"]: max_tokens }),
          ...(budget === undefined ? {} : { thinking: { type: "enabled", budget_tokens: budget } })
        })
      }).chatModel(name),
    options: (runId) => ({
      compatible: {
        ...(place.sendsCacheKey === true ? { prompt_cache_key: toCacheKey(runId) } : {}),
        ...(effort === undefined ? {} : { reasoningEffort: effort })
      }
    })
  }
}
