/** A rule of the repository (`.aicr/rules`) that applied to a reviewed change: it was in the prompt, or it was muted. */
import { Schema } from "effect"
import { Severity } from "./Kinds.ts"

export const RuleUse = Schema.Struct({
  id: Schema.String,
  /** Digest of its file: a rule that was changed counts from the beginning. */
  digest: Schema.String,
  severity: Severity,
  /** Owner as its file names it. */
  owner: Schema.optional(Schema.String),
  /** Minimum share of accepted findings, 0 to 1. */
  floor: Schema.optional(Schema.Finite),
  /** Present if it was not in the prompt, because too few of its findings were accepted. */
  muted: Schema.optional(Schema.Literal(true))
})
export type RuleUse = typeof RuleUse.Type
