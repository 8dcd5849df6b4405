/** Names the occasions of searches for missed changes. */
import { Schema } from "effect"

export const CatchUpOccasion = Schema.Literals([
  /** A node that receives deliveries started. */
  "start",
  "beat",
  /** Deliveries were refused because the records or the queue took none. */
  "refused",
  /** A webhook was created or repaired. */
  "hook",
  /** An operator requested it. */
  "requested"
])
export type CatchUpOccasion = typeof CatchUpOccasion.Type
