/** Reasons as records hold them, in columns of text. */
import { Schema } from "effect"
import { ReasonText } from "../../src/store/events/ReasonText.ts"
import { inEnglish } from "../../src/text/en.ts"

const decode = Schema.decodeUnknownSync(ReasonText)

/** Returns the English text of the reason in a column. */
export const readReasonColumn = (column: unknown): string | null => (column === null ? null : inEnglish(decode(column)))
