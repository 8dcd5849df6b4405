/** Files that a review read and skipped, with reasons. Shown in the summary, the API and the run record. */
import { Schema } from "effect"

export const SkipReason = Schema.Literals([
  "not_watched",
  "excluded",
  "ignored",
  "generated",
  "binary",
  "unreadable",
  "submodule",
  "max_files",
  "too_large",
  "budget",
  "compressed",
  "long_lines",
  "failed",
  "unchanged"
])
export type SkipReason = typeof SkipReason.Type

export const SkippedFile = Schema.Struct({
  path: Schema.String,
  reason: SkipReason,
  /** The matching line of the ignore file, for `ignored`. */
  rule: Schema.optional(Schema.String),
  /** True if the change adds text to it that was not read for a reason other than the configuration. */
  unread: Schema.optional(Schema.Boolean)
})
export type SkippedFile = typeof SkippedFile.Type

export const Coverage = Schema.Struct({
  reviewed: Schema.Array(Schema.String),
  skipped: Schema.Array(SkippedFile),
  /** Number of changed lines analysed: additions plus deletions of the reviewed files. */
  lines: Schema.Int
})
export type Coverage = typeof Coverage.Type

/** Returns the paths with added text that was not read. */
export const unreadPaths = ({ skipped }: Coverage): ReadonlyArray<string> => [
  ...new Set(skipped.flatMap(({ path, unread }) => (unread === true ? [path] : [])))
]

export const hasUnreadText = ({ skipped }: Coverage): boolean => skipped.some(({ unread }) => unread === true)
