/**
 * Rounds: the reviews of one pull request that read something and were published. Each has the lines that
 * earlier ones read, and what they reported. Pure.
 */
import { Schema } from "effect"
import { FindingState } from "./FindingState.ts"
import { Severity } from "./Kinds.ts"

/**
 * Relation of a finding of a round to earlier rounds. `new`: a line of it changed since the last review, or no earlier round read it. `late`:
 * an earlier round read all of its lines and did not report it. `carried`: an earlier round reported it.
 */
export const FindingRound = Schema.Struct({
  kind: Schema.Literals(["new", "late", "carried"]),
  /** Round that reported it first. */
  since: Schema.Int,
  /** First round that had read all of its lines, of a finding that was late when it was reported. */
  missed: Schema.optional(Schema.Int)
})
export type FindingRound = typeof FindingRound.Type

/** Lines of the patch of a file, and the rounds that read them. */
export const ReadLines = Schema.Struct({
  path: Schema.String,
  /** Keyed digests of the lines in order, four characters each. */
  marks: Schema.String,
  /** First rounds that read the lines, in order, each with the number of consecutive lines; 0 for lines that none read. */
  rounds: Schema.Array(Schema.Tuple([Schema.Int, Schema.Int]))
})
export type ReadLines = typeof ReadLines.Type

/** A finding that a round reported, and its state when the last round ended. */
export const RememberedFinding = Schema.Struct({
  fingerprint: Schema.String,
  file: Schema.String,
  severity: Severity,
  /** Title, or the beginning of the message. */
  title: Schema.String,
  since: Schema.Int,
  state: FindingState
})
export type RememberedFinding = typeof RememberedFinding.Type

/** Input of a review about earlier rounds of its target. */
export const EarlierRounds = Schema.Struct({
  /** Number of the last round that was published; 0 without one. One that was not published is continued under its number. */
  number: Schema.Int,
  reported: Schema.Array(RememberedFinding),
  /** True if a person requested a full review, which publishes late findings of any severity. */
  isLifted: Schema.Boolean,
  /** True if files are read again that the last review read. */
  rereads: Schema.Boolean
})
export type EarlierRounds = typeof EarlierRounds.Type

export const ReviewRound = Schema.Struct({
  /** 1 for the first one. */
  number: Schema.Int,
  /** Present if the review read nothing, so that it started no round. */
  isResumed: Schema.optional(Schema.Literal(true)),
  /** Secret of the digests of lines, so that no author can write a line with the digest of another one. */
  key: Schema.String,
  read: Schema.Array(ReadLines),
  reported: Schema.Array(RememberedFinding)
})
export type ReviewRound = typeof ReviewRound.Type
