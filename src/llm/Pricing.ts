/** What an answer cost, from `llm.model_catalog.overrides` (US dollars per million tokens, as in the catalog's `cost`). */
import { Option, Schema } from "effect"
import type { LlmConfig, LlmProvider } from "../config/schema/Llm.ts"
import type { GatewayUsage } from "./Gateway.ts"

const Priced = Schema.Struct({
  cost: Schema.Struct({ input: Schema.Number, output: Schema.Number, cache_read: Schema.optional(Schema.Number) })
})
const decode = Schema.decodeUnknownOption(Priced)

/** undefined when no override gives both an input and an output price. */
export const costUsd = (
  llm: LlmConfig,
  provider: LlmProvider,
  model: string,
  usage: Pick<GatewayUsage, "inputTokens" | "outputTokens" | "cachedTokens">
): number | undefined => {
  const names = [provider.catalog_id, `${provider.catalog_provider ?? provider.id}/${model}`, `${provider.id}/${model}`]
  const { overrides } = llm.model_catalog
  const price = names
    .map((name) => (name === undefined ? Option.none() : decode(overrides[name])))
    .find((found) => Option.isSome(found))
  if (price === undefined || Option.isNone(price)) return undefined
  const { cost } = price.value
  const fresh = Math.max(0, usage.inputTokens - usage.cachedTokens)
  const cached = cost.cache_read ?? cost.input
  return (fresh * cost.input + usage.cachedTokens * cached + usage.outputTokens * cost.output) / 1_000_000
}
