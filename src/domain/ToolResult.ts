/** A result of another tool about a change, from SARIF. */
import { Schema } from "effect"

export const ToolResult = Schema.Struct({
  tool: Schema.String,
  rule: Schema.String,
  message: Schema.String,
  /** Path or URI as the tool names the file. */
  uri: Schema.String,
  /** First and last line, 1-based; absent if the result is about the file as a whole, such as an advisory about a dependency of a lock file. */
  start: Schema.optional(Schema.Int),
  end: Schema.optional(Schema.Int)
})
export type ToolResult = typeof ToolResult.Type
