/** A result of another tool about a change, from SARIF. */
import { Schema } from "effect"

export const ToolResult = Schema.Struct({
  tool: Schema.String,
  rule: Schema.String,
  message: Schema.String,
  /** Path or URI as the tool names the file. */
  uri: Schema.String,
  /** 1-based, both included. */
  start: Schema.Int,
  end: Schema.Int
})
export type ToolResult = typeof ToolResult.Type
