/** Computes the cost of a response, and the estimate for the next one. */
import { tokenCost } from "../../domain/Money.ts"
import type { Usd } from "../../domain/Money.ts"
import type { GatewayUsage } from "../Gateway.ts"
import type { Price } from "../catalog/ModelRecord.ts"

/** Number of input tokens above which some providers charge more for the whole request. */
const longContext = 200_000

/** Undefined if the price is unknown. */
export const costUsd = (
  price: Price | undefined,
  usage: Pick<GatewayUsage, "inputTokens" | "outputTokens" | "cachedTokens" | "cacheWriteTokens" | "reasoningTokens">
): Usd | undefined => {
  if (price === undefined) return undefined
  const rates = (usage.inputTokens > longContext ? price.context_over_200k : undefined) ?? price
  const fresh = Math.max(0, usage.inputTokens - usage.cachedTokens - usage.cacheWriteTokens)
  const reasoning = Math.min(usage.reasoningTokens, usage.outputTokens)
  return tokenCost([
    [fresh, rates.input],
    [usage.cachedTokens, rates.cache_read ?? rates.input],
    [usage.cacheWriteTokens, rates.cache_write ?? rates.input],
    [usage.outputTokens - reasoning, rates.output],
    [reasoning, rates.reasoning ?? rates.output]
  ])
}
