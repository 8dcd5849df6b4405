/**
 * A problem found by a review. `ReportedProblem` is reported by a model or agent; `Finding` is the engine's version: anchored to a line of
 * the diff by its quote (or not anchored), with an identity that survives line shifts.
 */
import { Schema } from "effect"
import { FindingEvidence } from "./FindingEvidence.ts"
import { Severity } from "./Kinds.ts"
import { FindingRound } from "./Round.ts"

export const Side = Schema.Literals(["new", "old"])
export type Side = typeof Side.Type

export const ReportedProblem = Schema.Struct({
  file: Schema.String,
  line: Schema.optional(Schema.Int),
  end_line: Schema.optional(Schema.Int),
  side: Schema.optional(Side),
  severity: Severity,
  category: Schema.String,
  title: Schema.optional(Schema.String),
  message: Schema.String,
  /** Replacement text for the anchored lines, without a fence. */
  suggestion: Schema.optional(Schema.String),
  /** Code copied from the diff, one or more lines; used for anchoring. */
  quote: Schema.optional(Schema.String),
  /** Confidence from 0 to 1. */
  confidence: Schema.optional(Schema.Number),
  /** Id of the rule of the repository (`.aicr/rules`) that it breaks. */
  rule: Schema.optional(Schema.String)
})
export type ReportedProblem = typeof ReportedProblem.Type

/**
 * A line of the diff with the counters of both sides: for an added line `old` is the old line that follows, for a removed one `new` is the
 * new line that follows. 0 if a side is empty.
 */
export const DiffPlace = Schema.Struct({
  kind: Schema.Literals(["added", "removed", "unchanged"]),
  old: Schema.Int,
  new: Schema.Int
})
export type DiffPlace = typeof DiffPlace.Type

/** First and last line of a comment on several lines, both in one hunk (GitLab names lines by both counters). */
const DiffRange = Schema.Struct({ first: DiffPlace, last: DiffPlace })

/** Position of a finding. Lines are 1-based in the file at `side`; `start` is absent for a single line. */
export const Anchor = Schema.Struct({
  path: Schema.String,
  /** Path before a rename, if it differs. */
  oldPath: Schema.optional(Schema.String),
  side: Side,
  line: Schema.Int,
  start: Schema.optional(Schema.Int),
  /** Line numbers on both sides if the anchored line is unchanged context (GitLab needs both). */
  oldLine: Schema.optional(Schema.Int),
  newLine: Schema.optional(Schema.Int),
  /** Present together with `start`. */
  range: Schema.optional(DiffRange)
})
export type Anchor = typeof Anchor.Type

export const Finding = Schema.Struct({
  /** Identity: 32 hex digits, stable under line shifts and changed wording. */
  fingerprint: Schema.String,
  problem: ReportedProblem,
  /** Absent if it could not be anchored: it is then part of the summary and never of a line. */
  anchor: Schema.optional(Anchor),
  /** Reason for which a second reading confirmed it. */
  verified: Schema.optional(Schema.String),
  /** True if it was refuted only with what the author writes about the change: the code alone does not. */
  explained: Schema.optional(Schema.Boolean),
  /** Key of the quoted code (review/CodeKey.ts), if it has an anchor and enough code to identify. */
  code: Schema.optional(Schema.String),
  /** Present if its file was read, and it is not about removed lines. */
  evidence: Schema.optional(FindingEvidence),
  /** Present for what was found without a model: it is found again in each review, whatever models return. */
  fact: Schema.optional(Schema.Literal("credential")),
  /** Absent where the reviews of a target are not rounds. */
  round: Schema.optional(FindingRound),
  /** Present if its kind is folded, and it is shown to find out whether people accept such findings by now. */
  probe: Schema.optional(Schema.Literal(true))
})
export type Finding = typeof Finding.Type

const maxTitle = 160

/** Returns the first line of the title, or of the message. */
export const findingTitle = ({ message, title }: Pick<ReportedProblem, "message" | "title">): string =>
  (title ?? message).split("\n", 1)[0]?.slice(0, maxTitle).toWellFormed() ?? ""
