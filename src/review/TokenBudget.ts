/** Token limit of a pass: `compression.trigger_tokens`, or a value derived from the model's window. Pure. */
import type { CompressionConfig } from "../config/schema/Compression.ts"

/** Assumed where neither the provider's settings nor the catalog give a window. */
const assumedContextWindow = 128_000

export const passTokens = (options: {
  readonly compression: CompressionConfig
  /** `model` and `provider/model` of the review model. */
  readonly modelNames: ReadonlyArray<string>
  readonly contextWindow: number | undefined
  /** Tokens of the system prompt, which shares the window. */
  readonly systemTokens: number
}): number => {
  const { compression, modelNames, systemTokens } = options
  const window = options.contextWindow ?? assumedContextWindow
  const override = modelNames
    .map((name) => compression.per_model_overrides?.[name]?.trigger_tokens)
    .find((tokens) => tokens !== undefined)
  const derived = Math.min(131_072, Math.max(8192, Math.floor(window * compression.max_input_ratio)))
  const asked = override ?? compression.trigger_tokens ?? derived
  // A configured value cannot exceed the limit of the model.
  const most =
    options.contextWindow === undefined ? asked : Math.floor(options.contextWindow * compression.max_input_ratio)
  const trigger = asked === derived ? derived : Math.min(asked, Math.max(1024, most))
  return Math.max(1024, trigger - systemTokens)
}
