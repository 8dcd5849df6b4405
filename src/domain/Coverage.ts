/** What a review read and what it left out, and why. Shown in the summary, the API and the run record. */
import { Schema } from "effect"

export const SkipReason = Schema.Literals([
  "not_watched",
  "excluded",
  "ignored",
  "generated",
  "binary",
  "submodule",
  "max_files",
  "budget",
  "compressed",
  "failed",
  "unchanged"
])
export type SkipReason = typeof SkipReason.Type

export const Coverage = Schema.Struct({
  reviewed: Schema.Array(Schema.String),
  skipped: Schema.Array(Schema.Struct({ path: Schema.String, reason: SkipReason })),
  /** Changed lines analysed: additions plus deletions of the reviewed files. */
  lines: Schema.Int
})
export type Coverage = typeof Coverage.Type
