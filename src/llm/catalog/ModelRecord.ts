/**
 * One model in the form of the catalog document (models.dev `api.json`), with the fields that the gateway uses. Fields are
 * decoded separately, so that an invalid field does not invalidate the others.
 */
import { Option, Schema } from "effect"
import type { LlmConfig, LlmProvider } from "../../config/schema/Llm.ts"
import { UsdPerMillionTokens } from "../../domain/Money.ts"

const Tokens = Schema.Int.check(Schema.isGreaterThan(0))

const Rates = Schema.Struct({
  input: UsdPerMillionTokens,
  output: UsdPerMillionTokens,
  cache_read: Schema.optional(UsdPerMillionTokens),
  cache_write: Schema.optional(UsdPerMillionTokens),
  reasoning: Schema.optional(UsdPerMillionTokens)
})
export const Price = Schema.Struct({ ...Rates.fields, context_over_200k: Schema.optional(Rates) })
export type Price = typeof Price.Type

const free = UsdPerMillionTokens.make(0)
const noPrice: Price = { input: free, output: free }

export interface ModelSpec {
  readonly contextWindow: number | undefined
  readonly maxOutputTokens: number | undefined
  /** Undefined: unknown, which does not mean free. */
  readonly price: Price | undefined
  readonly supportedEfforts: ReadonlyArray<string> | undefined
  readonly defaultEffort: string | undefined
  /** False if the model is known not to support tools. */
  readonly toolCall: boolean | undefined
}

export type RawRecord = Readonly<Record<string, unknown>>

const optional = <A>(schema: Schema.Decoder<A>) => {
  const decode = Schema.decodeUnknownOption(schema)
  return (value: unknown): A | undefined => Option.getOrUndefined(decode(value))
}
const readTokens = optional(Tokens)
const readPrice = optional(Price)
const readTexts = optional(Schema.Array(Schema.String))
const readText = optional(Schema.String)
const readFlag = optional(Schema.Boolean)
const readFields = optional(Schema.Record(Schema.String, Schema.Unknown))

/** Merges records: the override's fields take precedence, in `limit` and `cost` each figure separately. */
const mergeRecords = (catalog: RawRecord, override: RawRecord): RawRecord => ({
  ...catalog,
  ...override,
  ...Object.fromEntries(
    ["limit", "cost", "modalities"].map((group) => [
      group,
      { ...readFields(catalog[group]), ...readFields(override[group]) }
    ])
  )
})

/** Returns the specification of a model: from the provider's own settings, then overrides, then the catalog. */
export const toSpec = (
  llm: LlmConfig,
  provider: Pick<LlmProvider, "context_window" | "max_output_tokens" | "subscription">,
  catalog: RawRecord,
  override: RawRecord
): ModelSpec => {
  const merged = mergeRecords(catalog, override)
  const limits = readFields((llm.model_catalog.apply_to_model_spec ? merged : override)["limit"]) ?? {}
  return {
    contextWindow: provider.context_window ?? readTokens(limits["context"]),
    maxOutputTokens: provider.max_output_tokens ?? readTokens(limits["output"]),
    // Calls of a subscription are paid for with it.
    price: provider.subscription === true && override["cost"] === undefined ? noPrice : readPrice(merged["cost"]),
    supportedEfforts: readTexts(merged["supported_reasoning_efforts"]),
    defaultEffort: readText(merged["default_reasoning_effort"]),
    toolCall: readFlag((llm.model_catalog.apply_to_model_spec ? merged : override)["tool_call"])
  }
}
