/** Decision about an issue. Its effects, such as closing, are publications. */
import { Schema } from "effect"

export const TriageDecision = Schema.Struct({
  verdict: Schema.Literals(["close", "keep_open"]),
  /** The model's category, even if its decision to close was overruled; `unknown` if no model responded. */
  category: Schema.String,
  /** Reason as text for people: the model's, or the one against its decision to close. */
  reason: Schema.String,
  /** Confidence from 0 to 1 according to the model; 0 if none responded. */
  confidence: Schema.Finite
})
export type TriageDecision = typeof TriageDecision.Type
