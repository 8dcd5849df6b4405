/** Determines which providers have the API of an agent. Pure. */
import type { LlmProvider } from "../config/schema/Llm.ts"
import type { WireFormat } from "./WireGateway.ts"

export const openaiHost = "https://api.openai.com/v1"
/** Serves the responses API to tokens of ChatGPT workspaces. */
export const chatgptHost = "https://chatgpt.com/backend-api/codex"

/** Other servers implement the responses API in part, if at all. */
export const isOpenAiHost = (url = openaiHost): boolean => url.replace(/(?<!\/)\/+$/, "") === openaiHost

/** Whether the provider gets requests of this format as they are, and so has its tools. */
export const hasFormat = (
  config: Pick<LlmProvider, "kind" | "base_url" | "subscription">,
  format: WireFormat
): boolean => {
  switch (config.kind) {
    case "openai_compatible":
      if (config.subscription === true) return format === "openai-responses"
      return format === "openai-chat" || (format === "openai-responses" && isOpenAiHost(config.base_url))
    case "azure_openai":
      return format === "openai-chat"
    case "anthropic":
      return format === "anthropic-messages"
    case "google_ai_studio":
      return format === "gemini"
    default:
      return false
  }
}
