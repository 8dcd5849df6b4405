/** A step of a run with its time, from the spans that are exported as traces. */
import { Schema } from "effect"

/** Names of the spans that are kept, with the kind of step that each is. */
export const spanKinds: ReadonlyMap<string, RunSpan["kind"]> = new Map([
  ["queue wait", "queue"],
  ["awaitCi", "ci"],
  ["checkout", "checkout"],
  ["planPasses", "plan"],
  ["pass", "pass"],
  ["llm.call", "model_call"],
  ["verifyFindings", "verification"],
  ["writeSummary", "summary"],
  ["publication", "publication"]
])

/** Name of the span that ends a run. It is not kept. */
export const endSpan = "run end"

/** Attributes of spans that are kept, by their names. Others are dropped when a span is decoded. */
export const spanAttributes = {
  /** Number of the pass, from 1. */
  pass: Schema.optionalKey(Schema.Int),
  /** Model of a call, as provider/model. */
  model: Schema.optionalKey(Schema.String),
  /** Milliseconds until the last request of a call was sent: for a permit, and for pauses and attempts before it. */
  wait_ms: Schema.optionalKey(Schema.Int),
  input_tokens: Schema.optionalKey(Schema.Int),
  cached_tokens: Schema.optionalKey(Schema.Int),
  output_tokens: Schema.optionalKey(Schema.Int),
  cost_usd: Schema.optionalKey(Schema.Finite),
  /** Name of the channel, and kind of the operation, of a publication. */
  channel: Schema.optionalKey(Schema.String),
  operation: Schema.optionalKey(Schema.String)
}

export const RunSpan = Schema.Struct({
  id: Schema.String,
  /** Id of the span that it is a part of, if that is kept too. */
  parent: Schema.optionalKey(Schema.String),
  kind: Schema.Literals([
    "queue",
    "ci",
    "checkout",
    "plan",
    "pass",
    "model_call",
    "verification",
    "summary",
    "publication"
  ]),
  /** Milliseconds since the epoch, and duration in milliseconds. */
  at: Schema.Int,
  millis: Schema.Int,
  /** True if it ended with an error or was interrupted. */
  failed: Schema.optionalKey(Schema.Literal(true)),
  ...spanAttributes
})
export type RunSpan = typeof RunSpan.Type
