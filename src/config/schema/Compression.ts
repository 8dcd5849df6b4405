/** Schema of `compression`: size of a pass, and handling of a diff that is larger than all passes (`review.max_passes`). */
import { Schema } from "effect"
import type { Resolved } from "../fields/Field.ts"
import { defaulted, optional } from "../fields/Field.ts"
import { choice, map, number, PositiveInt, withShorthand } from "../fields/Scalars.ts"

const ModelOverride = withShorthand(
  Schema.Struct({ trigger_tokens: optional(PositiveInt, "compression.per_model_overrides.<id>.trigger_tokens") }),
  { _tag: "TokensOrMap", form: "{trigger_tokens}" },
  (value) => (typeof value === "number" ? { trigger_tokens: value } : undefined)
)

export const CompressionConfig = Schema.Struct({
  trigger_tokens: optional(PositiveInt, "compression.trigger_tokens", {
    defaultText: "min(131072, max(8192, floor(context window × 0.6)))"
  }),
  max_input_ratio: defaulted(number(0, 1), 0.6, "compression.max_input_ratio"),
  summarize_model_role: defaulted(choice("light", "heavy", "any"), "light", "compression.summarize_model_role"),
  keep_hunks_top_k: defaulted(PositiveInt, 30, "compression.keep_hunks_top_k"),
  context_lines: defaulted(PositiveInt, 5, "compression.context_lines"),
  per_model_overrides: optional(map(ModelOverride), "compression.per_model_overrides")
})
export type CompressionConfig = Resolved<typeof CompressionConfig>
