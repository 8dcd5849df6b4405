/** Schema of `compression`: handling of a diff that is too large for the model. */
import { Schema } from "effect"
import type { Resolved } from "../Field.ts"
import { defaulted, optional } from "../Field.ts"
import { choice, map, number, PositiveInt, withShorthand } from "../Scalars.ts"

const ModelOverride = withShorthand(
  Schema.Struct({ trigger_tokens: optional(PositiveInt, "Tokens at which compression starts for this model.") }),
  "a number of tokens, or {trigger_tokens}",
  (value) => (typeof value === "number" ? { trigger_tokens: value } : undefined)
)

export const CompressionConfig = Schema.Struct({
  trigger_tokens: optional(PositiveInt, "Tokens at which compression of the diff starts.", {
    defaultText: "min(131072, max(8192, floor(context window × 0.6)))"
  }),
  max_input_ratio: defaulted(number(0, 1), 0.6, "Share of the context window that input may fill before compression."),
  summarize_model_role: defaulted(choice("light", "heavy", "any"), "light", "Role of the model that summarises."),
  keep_hunks_top_k: defaulted(PositiveInt, 30, "Hunks of highest risk that are kept word for word."),
  context_lines: defaulted(PositiveInt, 5, "Lines of context around kept hunks."),
  per_model_overrides: optional(map(ModelOverride), "trigger_tokens per model.")
})
export type CompressionConfig = Resolved<typeof CompressionConfig>
