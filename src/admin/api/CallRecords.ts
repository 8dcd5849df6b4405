/** Defines the records of model calls: what was sent to a model, and what it returned. */
import { Schema } from "effect"
import { count, maybeCount, maybeReason, recordId, text, time } from "./Fields.ts"

export const RecordedCall = Schema.Struct({
  id: recordId,
  model: text("Model, as provider/model"),
  role: text("Role of the model in its chain: light, heavy or any"),
  at: time("Time at which the request was sent"),
  duration_ms: count("Milliseconds until its end"),
  failure: maybeReason("Why it failed"),
  messages: count("Number of messages of the conversation so far"),
  input_tokens: maybeCount("Input tokens"),
  output_tokens: maybeCount("Output tokens"),
  cost_usd: Schema.NullOr(Schema.Finite).annotate({ description: "Cost in US dollars; null if it is unknown" })
}).annotate({ identifier: "RecordedCall", description: "A recorded request to a model" })

const CallText = Schema.Struct({
  role: Schema.Literals(["system", "tools", "user", "assistant", "tool", "response"]).annotate({
    description: "Author of the text; `tools`: the definitions of the tools; `response`: the response to this request"
  }),
  text: text("The text, or JSON"),
  cut: Schema.optionalKey(Schema.Literal(true)).annotateKey({ description: "True if the text is longer" })
}).annotate({ identifier: "CallText", description: "One text of a model call" })

export type CallTextRecord = typeof CallText.Type

export const CallTexts = Schema.Struct({
  id: recordId,
  texts: Schema.Array(CallText).annotate({ description: "Texts in the order in which the model got them" }),
  omitted: maybeCount("Number of messages after the first that are not shown")
}).annotate({ identifier: "CallTexts", description: "The texts of a model call" })
