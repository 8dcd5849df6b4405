/** An error that a node logged: the text of the line, which is constant, and the run that the line names. Its fields are in the log only. */
import { Schema } from "effect"

export const LoggedError = Schema.Struct({
  at: Schema.String.annotate({ description: "Time of the line" }),
  message: Schema.String.annotate({ description: "Text of the line, without its fields" }),
  run_id: Schema.optionalKey(Schema.String.annotate({ description: "Run that the line names" }))
}).annotate({ identifier: "LoggedError", description: "The last error that a node logged" })
export type LoggedError = typeof LoggedError.Type
