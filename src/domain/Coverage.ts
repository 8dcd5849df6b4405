/** Files that a review read and skipped, with reasons. Shown in the summary, the API and the run record. */
import { Schema } from "effect"
import { boundSkipped, maxNamedSkipped } from "./SkippedFiles.ts"

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
  "output_limit",
  "unusable",
  "failed",
  "unchanged"
])
export type SkipReason = typeof SkipReason.Type

export const SkippedFile = Schema.Struct({
  path: Schema.String,
  reason: SkipReason,
  /** The matching line of the ignore file, for `ignored`; the setting that excludes it, for `excluded`. */
  rule: Schema.optional(Schema.String),
  /** True if the change adds text to it that was not read for a reason other than the configuration. */
  unread: Schema.optional(Schema.Boolean),
  /** Changed lines that were read, of the `changed` ones that the file has. Absent if its lines were not counted. */
  read: Schema.optional(Schema.Int),
  changed: Schema.optional(Schema.Int)
})
export type SkippedFile = typeof SkippedFile.Type

/**
 * Reason why a part of a review could not be used although its pass ended: the model did not correct a report. The files of the pass do not
 * count as read in full.
 */
const UnusableReason = Schema.Literals(["report"])
export const Unusable = Schema.Struct({ reason: UnusableReason, count: Schema.Int })
export type Unusable = typeof Unusable.Type

/** Adds the counts of each reason. */
export const addUnusable = (all: ReadonlyArray<Unusable>): ReadonlyArray<Unusable> =>
  UnusableReason.literals.flatMap((reason) => {
    const count = all.reduce((sum, one) => sum + (one.reason === reason ? one.count : 0), 0)
    return count === 0 ? [] : [{ reason, count }]
  })

/** Files and folders of the base branch with instructions for reviews. */
export const InstructionSource = Schema.Literals([
  "AGENTS.md",
  "CLAUDE.md",
  "REVIEW.md",
  ".aicr",
  ".aicr/skills",
  ".aicr/rules",
  ".github/instructions",
  ".cursor/rules",
  ".claude/skills",
  ".agents/skills"
])
export type InstructionSource = typeof InstructionSource.Type

export const InstructionFiles = Schema.Struct({
  source: InstructionSource,
  /** Number of files, and of those that apply to the change and were in the prompt. */
  found: Schema.Int,
  applied: Schema.Int
})
export type InstructionFiles = typeof InstructionFiles.Type

/** Reason why a file was read with what its author writes: no parser for its language, not understood by it, or too many files. */
const FramedReason = Schema.Literals(["no_grammar", "not_parsed", "limit"])

/** A file that was to be read blind (`review.blind`) and was not. */
export const FramedFile = Schema.Struct({ path: Schema.String, reason: FramedReason })
export type FramedFile = typeof FramedFile.Type

export const Coverage = Schema.Struct({
  reviewed: Schema.Array(Schema.String),
  skipped: Schema.Array(SkippedFile),
  /** Number of changed lines that were read: additions plus deletions. */
  lines: Schema.Int,
  /** Number of changed lines of the files that were to be read. Absent if all were read. */
  changed: Schema.optional(Schema.Int),
  /** Absent if everything could be used. */
  unusable: Schema.optional(Schema.Array(Unusable)),
  /** Number of files that were read blind. Absent if there was none. */
  blind: Schema.optional(Schema.Int),
  /** Files that were to be read blind and were not. Absent if there was none. */
  framed: Schema.optional(Schema.Array(FramedFile)),
  /** Counts of the files that are not named, because there are too many. */
  unnamed: Schema.optional(
    Schema.Struct({
      reviewed: Schema.Int,
      skipped: Schema.Record(Schema.String, Schema.Int),
      /** Number of skipped files with added text that was not read. */
      unread: Schema.Int
    })
  ),
  /** Sources of instructions that exist; the others were not found. Absent if there is none, or if no model was called. */
  instructions: Schema.optional(Schema.Array(InstructionFiles))
})
export type Coverage = typeof Coverage.Type

/** Reviewed files that a coverage names. */
const maxNamedReviewed = 5_000

/** Bounds the named files and counts the others. Files with added text that was not read are named first. */
export const boundCoverage = (coverage: Coverage): Coverage => {
  const { reviewed, skipped, unnamed } = coverage
  if (reviewed.length <= maxNamedReviewed && skipped.length <= maxNamedSkipped) return coverage
  const { named, counts, unread } = boundSkipped(skipped)
  const all: Record<string, number> = { ...unnamed?.skipped }
  for (const [reason, count] of Object.entries(counts)) all[reason] = (all[reason] ?? 0) + count
  return {
    ...coverage,
    reviewed: reviewed.slice(0, maxNamedReviewed),
    skipped: named,
    unnamed: {
      reviewed: (unnamed?.reviewed ?? 0) + Math.max(0, reviewed.length - maxNamedReviewed),
      skipped: all,
      unread: (unnamed?.unread ?? 0) + unread
    }
  }
}

/** Returns whether every file is named. */
export const namesAll = ({ unnamed }: Coverage): boolean => unnamed === undefined

export const countReviewed = ({ reviewed, unnamed }: Coverage): number => reviewed.length + (unnamed?.reviewed ?? 0)

export const countSkipped = ({ skipped, unnamed }: Coverage): number =>
  Object.values(unnamed?.skipped ?? {}).reduce((sum, count) => sum + count, skipped.length)

/** Returns the number of files that no review has to read again. */
export const countUnchanged = ({ skipped, unnamed }: Coverage): number =>
  skipped.filter(({ reason }) => reason === "unchanged").length + (unnamed?.skipped["unchanged"] ?? 0)

/** Returns the named paths with added text that was not read. */
export const unreadPaths = ({ skipped }: Coverage): ReadonlyArray<string> => [
  ...new Set(skipped.flatMap(({ path, unread }) => (unread === true ? [path] : [])))
]

export const countUnread = (coverage: Coverage): number =>
  unreadPaths(coverage).length + (coverage.unnamed?.unread ?? 0)

/** Returns whether the change adds text that was not read, or that was read without all of the reports being usable. */
export const hasUnreadText = (coverage: Coverage): boolean =>
  coverage.unusable !== undefined || countUnread(coverage) > 0

/**
 * Returns whether at least 90 % of the changed lines were read. Files with unread text whose lines were not counted are compared by
 * their number.
 */
export const isMostlyRead = (coverage: Coverage): boolean => {
  const { lines, skipped, unnamed } = coverage
  const changed = coverage.changed ?? lines
  const uncounted = skipped.filter((file) => file.unread === true && file.changed === undefined).length
  const counted = countReviewed(coverage) + skipped.filter((file) => file.changed !== undefined).length
  const unknown = uncounted + (unnamed?.unread ?? 0)
  return lines * 10 >= changed * 9 && unknown * 10 <= counted + unknown
}
