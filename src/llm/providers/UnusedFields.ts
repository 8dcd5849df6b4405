/** Lists the set fields of a provider that its kind ignores, so that operators do not rely on them. */
import type { LlmProvider } from "../../config/schema/Llm.ts"

type Field = "organization" | "api_version" | "thinking_budget_tokens"

const withoutPlace: Readonly<Record<LlmProvider["kind"] | "openai itself", ReadonlyArray<Field>>> = {
  openai_compatible: [],
  "openai itself": ["api_version", "thinking_budget_tokens"],
  azure_openai: [],
  anthropic: ["organization"],
  vertex_ai: ["organization"],
  bedrock: ["organization", "api_version"],
  google_ai_studio: ["organization"],
  ollama: ["organization"],
  copilot: ["organization", "api_version"]
}

export const unusedFields = (provider: LlmProvider): ReadonlyArray<Field> => {
  const openaiItself = provider.kind === "openai_compatible" && provider.base_url === undefined
  return withoutPlace[openaiItself ? "openai itself" : provider.kind].filter((field) => provider[field] !== undefined)
}
