/** A line of the log of a run. */
import { Schema } from "effect"

export const RunLogLine = Schema.Struct({
  /** Milliseconds since the epoch. */
  at: Schema.Int,
  level: Schema.Literals(["trace", "debug", "info", "warn", "error", "fatal"]),
  message: Schema.String,
  fields: Schema.Record(Schema.String, Schema.Json)
})
export type RunLogLine = typeof RunLogLine.Type
