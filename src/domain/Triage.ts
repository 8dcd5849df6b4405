/** What was decided about an issue. Closing and whatever else follows from it is publishing's. */
import { Schema } from "effect"

export const TriageDecision = Schema.Struct({
  verdict: Schema.Literals(["close", "keep_open"]),
  /** The model's, also where its wish to close was not followed; `unknown` where no model answered. */
  category: Schema.String,
  /** Why, in words for people: the model's, or what spoke against its wish to close. */
  reason: Schema.String,
  /** 0 to 1, of the model in its own answer; 0 where none answered. */
  confidence: Schema.Finite
})
export type TriageDecision = typeof TriageDecision.Type
