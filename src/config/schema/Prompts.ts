/** Schema of `prompts`: named system prompt documents that workspaces refer to. */
import { Schema } from "effect"
import type { Resolved } from "../Field.ts"
import { defaulted } from "../Field.ts"
import { LongText, map } from "../Scalars.ts"

export const PromptsConfig = Schema.Struct({
  system: defaulted(
    map(LongText),
    {},
    "Named system prompts (markdown, frontmatter allowed; only the body reaches the model). The built-in base prompt is not stored here."
  )
})
export type PromptsConfig = Resolved<typeof PromptsConfig>
