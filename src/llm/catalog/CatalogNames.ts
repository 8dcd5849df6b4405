/** Lists the names that a configured model may have in the catalog, the most likely first. */
import type { LlmProvider } from "../../config/schema/Llm.ts"

const byKind: Readonly<Record<LlmProvider["kind"], ReadonlyArray<string>>> = {
  openai_compatible: [],
  azure_openai: ["azure"],
  anthropic: ["anthropic"],
  vertex_ai: ["google-vertex", "google-vertex-anthropic"],
  bedrock: ["amazon-bedrock"],
  google_ai_studio: ["google"],
  ollama: [],
  copilot: ["github-copilot"]
}

/** Servers with OpenAI's protocol, by host. */
const byHost: Readonly<Record<string, string>> = {
  "api.openai.com": "openai",
  "openrouter.ai": "openrouter",
  "api.mistral.ai": "mistral",
  "api.deepseek.com": "deepseek",
  "api.groq.com": "groq",
  "api.x.ai": "xai"
}

type Named = Pick<LlmProvider, "id" | "kind" | "base_url" | "catalog_provider" | "catalog_id">

/** `catalog_id` and `catalog_provider` replace all guesses if they are set. */
export const catalogNames = (provider: Named, model: string): ReadonlyArray<string> => {
  if (provider.catalog_id !== undefined) return [provider.catalog_id]
  if (provider.catalog_provider !== undefined) return [`${provider.catalog_provider}/${model}`]
  const models = provider.kind === "bedrock" ? [model, model.replace(/^(?:us|eu|apac|jp|au|global)\./, "")] : [model]
  const providers = [...byKind[provider.kind], ...hostProvider(provider), provider.id]
  return [...new Set(providers.flatMap((name) => models.map((known) => `${name}/${known}`)))]
}

/** Overrides may also be written under the configured provider's own id. */
export const overrideNames = (provider: Named, model: string): ReadonlyArray<string> => [
  ...new Set([...catalogNames(provider, model), `${provider.id}/${model}`])
]

const hostProvider = ({ kind, base_url }: Named): ReadonlyArray<string> => {
  if (kind !== "openai_compatible") return []
  if (base_url === undefined) return ["openai"]
  const known = byHost[new URL(base_url).hostname]
  return known === undefined ? [] : [known]
}
