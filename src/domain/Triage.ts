/** Decision about an issue. Its effects, such as closing, are publications. */
import { Schema } from "effect"
import { Reason } from "./Reason.ts"

export const TriageDecision = Schema.Struct({
  verdict: Schema.Literals(["close", "keep_open"]),
  /** The model's category, even if its decision to close was overruled; `unknown` if no model responded. */
  category: Schema.String,
  /** The model's reason, or the one against its decision to close. */
  reason: Reason,
  /** Confidence from 0 to 1 according to the model; 0 if none responded. */
  confidence: Schema.Finite
})
export type TriageDecision = typeof TriageDecision.Type
