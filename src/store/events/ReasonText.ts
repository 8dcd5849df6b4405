/** Reasons in columns of text. JSON escapes every character that a column cannot store. */
import { Schema } from "effect"
import { Reason } from "../../domain/Reason.ts"

export const ReasonText = Schema.fromJsonString(Reason)
export const encodeReason = (reason: Reason | undefined): string | null =>
  reason === undefined ? null : JSON.stringify(reason)
