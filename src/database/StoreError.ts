/** The one error of the record store: what could not be done, and whether trying again can help. */
import { Schema } from "effect"

export class StoreError extends Schema.TaggedError<StoreError>()("StoreError", {
  /** `unavailable`: disk full, locked, read-only or unreachable; `corrupt`: a stored record does not decode. */
  reason: Schema.Literals(["unavailable", "corrupt"]),
  operation: Schema.String,
  message: Schema.String
}) {}
