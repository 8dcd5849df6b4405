import { Schema } from "effect"
import { Reason } from "../domain/Reason.ts"
import { inEnglish } from "../text/en.ts"

/** The thread of a change ended: this review fails, and other reviews and the service continue. */
export class AnalysisError extends Schema.TaggedError<AnalysisError>()("AnalysisError", {
  /**
   * `limit`: the change exceeds the limit of memory or time, so a retry fails too; `crashed`: the thread ended for
   * another reason.
   */
  reason: Schema.Literals(["limit", "crashed"]),
  why: Reason
}) {
  override get message(): string {
    return inEnglish(this.why)
  }
}
