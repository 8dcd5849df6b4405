/** Computes the limit of output tokens, which every request states, so that no server applies a small default of its own. */
import type { LlmProvider } from "../../config/schema/Llm.ts"
import type { ModelSpec } from "../catalog/ModelRecord.ts"

/** Limit for a model without a known one. */
const defaultOutputTokens = 16_384
/** Smallest limit, also after a long prompt. */
const smallestOutputTokens = 1_024
/** Conservative estimate, so that the prompt and the limit fit the window together. */
const charsPerToken = 2.5

/** Returns the configured limit, else that of the catalog or the default, as far as the window has room after the prompt. */
export const outputLimit = (
  { max_output_tokens: configured }: Pick<LlmProvider, "max_output_tokens">,
  { contextWindow, maxOutputTokens }: Pick<ModelSpec, "contextWindow" | "maxOutputTokens">,
  characters: number
): number => {
  if (configured !== undefined) return configured
  const wanted = maxOutputTokens ?? defaultOutputTokens
  if (contextWindow === undefined) return wanted
  const room = contextWindow - Math.ceil(characters / charsPerToken)
  return Math.min(wanted, Math.max(room, smallestOutputTokens))
}
