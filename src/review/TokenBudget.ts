/** Tokens of a pass and number of passes: `compression.trigger_tokens`, or values derived from the model's window. Pure. */
import type { CompressionConfig } from "../config/schema/Compression.ts"

/** Assumed where neither the provider's settings nor the catalog give a window. */
const assumedContextWindow = 128_000

/** Passes of a review where neither `review.max_passes` nor `compression.trigger_tokens` is set. */
const usualPasses = 40

export interface PassBudget {
  /** Tokens of a pass without the system prompt. */
  readonly tokens: number
  readonly passes: number
  /** Whether `compression.trigger_tokens` is set, so that a larger change is compressed into one pass. */
  readonly isThreshold: boolean
}

export const passBudget = (options: {
  readonly compression: CompressionConfig
  /** `model` and `provider/model` of the review model. */
  readonly modelNames: ReadonlyArray<string>
  readonly contextWindow: number | undefined
  /** Tokens of the system prompt, which shares the window. */
  readonly systemTokens: number
  /** `review.max_passes`. */
  readonly maxPasses: number | undefined
}): PassBudget => {
  const { compression, modelNames, systemTokens } = options
  const window = options.contextWindow ?? assumedContextWindow
  const override = modelNames
    .map((name) => compression.per_model_overrides?.[name]?.trigger_tokens)
    .find((tokens) => tokens !== undefined)
  const derived = Math.min(131_072, Math.max(8192, Math.floor(window * compression.max_input_ratio)))
  const set = override ?? compression.trigger_tokens
  const wanted = set ?? derived
  // A configured value cannot exceed the limit of the model.
  const most =
    options.contextWindow === undefined ? wanted : Math.floor(options.contextWindow * compression.max_input_ratio)
  const trigger = wanted === derived ? derived : Math.min(wanted, Math.max(1024, most))
  const isThreshold = set !== undefined && options.maxPasses === undefined
  return {
    tokens: Math.max(1024, trigger - systemTokens),
    passes: options.maxPasses ?? (isThreshold ? 1 : usualPasses),
    isThreshold
  }
}
