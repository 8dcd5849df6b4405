/** Reasons as records hold them, in columns of text. */
import { Schema } from "effect"
import { Reason } from "../../src/domain/Reason.ts"
import { inEnglish } from "../../src/text/en.ts"

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Reason))

/** Returns the English text of the reason in a column. */
export const readReasonColumn = (column: unknown): string | null => (column === null ? null : inEnglish(decode(column)))
