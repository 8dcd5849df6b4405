/** Schema of `compression`: size of a pass, and handling of a diff that is larger than all passes (`review.max_passes`). */
import { Schema } from "effect"
import type { Resolved } from "../Field.ts"
import { defaulted, optional } from "../Field.ts"
import { choice, map, number, PositiveInt, withShorthand } from "../Scalars.ts"

const ModelOverride = withShorthand(
  Schema.Struct({ trigger_tokens: optional(PositiveInt, "Most tokens of a pass with this model.") }),
  "a number of tokens, or {trigger_tokens}",
  (value) => (typeof value === "number" ? { trigger_tokens: value } : undefined)
)

export const CompressionConfig = Schema.Struct({
  trigger_tokens: optional(
    PositiveInt,
    "Maximum number of tokens of a pass. A larger diff is read in several passes, and compressed beyond review.max_passes.",
    {
      defaultText: "min(131072, max(8192, floor(context window × 0.6)))"
    }
  ),
  max_input_ratio: defaulted(number(0, 1), 0.6, "Share of the context window that the input of a pass may fill."),
  summarize_model_role: defaulted(
    choice("light", "heavy", "any"),
    "light",
    "Role of the model that summarises what no pass shows."
  ),
  keep_hunks_top_k: defaulted(
    PositiveInt,
    30,
    "Of a diff over review.max_passes, hunks of highest risk that are read word for word, whatever file they are in; the other passes read whole files, the riskiest first."
  ),
  context_lines: defaulted(PositiveInt, 5, "Lines of context around hunks that are kept."),
  per_model_overrides: optional(map(ModelOverride), "trigger_tokens per model.")
})
export type CompressionConfig = Resolved<typeof CompressionConfig>
