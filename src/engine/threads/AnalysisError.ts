import { Schema } from "effect"

/** The thread that held the change ended: this review fails, others and the service go on. */
export class AnalysisError extends Schema.TaggedError<AnalysisError>()("AnalysisError", {
  /** `limit`: the change needs more memory or time than it may, and so it will again; `crashed`: the thread ended by itself. */
  reason: Schema.Literals(["limit", "crashed"]),
  message: Schema.String
}) {}
