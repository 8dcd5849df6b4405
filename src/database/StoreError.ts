/** The error of the record store: the failed operation, and whether a retry can help. */
import { Schema } from "effect"
import { Reason } from "../domain/Reason.ts"
import { inEnglish } from "../text/en.ts"

export class StoreError extends Schema.TaggedError<StoreError>()("StoreError", {
  /** `unavailable`: disk full, locked, read-only or unreachable; `corrupt`: a stored record cannot be decoded. */
  reason: Schema.Literals(["unavailable", "corrupt"]),
  operation: Schema.String,
  /** The server that is disconnected, if that is the cause: a start waits for it. */
  disconnected: Schema.optionalKey(Schema.Literal("postgres")),
  /** True if the database did nothing, or undid it, so that the whole transaction may be repeated. */
  isUndone: Schema.optionalKey(Schema.Literal(true)),
  why: Reason
}) {
  override get message(): string {
    return inEnglish(this.why)
  }
}
