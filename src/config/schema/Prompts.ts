/** Schema of `prompts`: named system prompt documents that workspaces refer to. */
import { Schema } from "effect"
import type { Resolved } from "../fields/Field.ts"
import { defaulted } from "../fields/Field.ts"
import { LongText, map } from "../fields/Scalars.ts"

export const PromptsConfig = Schema.Struct({
  system: defaulted(map(LongText), {}, "prompts.system")
})
export type PromptsConfig = Resolved<typeof PromptsConfig>
