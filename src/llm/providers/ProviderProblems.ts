/** Reports providers of a configuration that cannot be called, and fields without effect, before the first review. */
import type { ConfigIssue } from "../../config/ConfigIssue.ts"
import type { Snapshot } from "../../config/Snapshot.ts"
import { providerProblem } from "./Providers.ts"
import { providerSettings } from "./ProviderSettings.ts"
import type { LlmProvider } from "../../config/schema/Llm.ts"

/** Lists the set fields of a provider that its kind ignores, so that operators do not rely on them. */

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

const unusedFields = (provider: LlmProvider): ReadonlyArray<Field> => {
  const openaiItself = provider.kind === "openai_compatible" && provider.base_url === undefined
  return withoutPlace[openaiItself ? "openai itself" : provider.kind].filter((field) => provider[field] !== undefined)
}

export const providerProblems = (
  snapshot: Pick<Snapshot, "baseDir" | "credential" | "document">
): ReadonlyArray<ConfigIssue> =>
  snapshot.document.llm.providers.flatMap((provider, index): ReadonlyArray<ConfigIssue> => {
    const path = `llm.providers[${index}]`
    const problem = providerProblem(providerSettings(provider, snapshot))
    const unused = unusedFields(provider).map((field): ConfigIssue => ({
      severity: "warning",
      path: `${path}.${field}`,
      reason: { _tag: "ProviderFieldUnused", provider: provider.id, kind: provider.kind, field }
    }))
    return problem === undefined
      ? unused
      : [
          { severity: "warning", path, reason: { _tag: "ProviderProblem", provider: provider.id, why: problem } },
          ...unused
        ]
  })
