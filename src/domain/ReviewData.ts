/** A published review as data, for programs that receive it. Texts are as the model and the host wrote them: a receiver escapes them. */
import { Schema } from "effect"
import { Severity, TargetKind, TriggerKind } from "./Kinds.ts"

const ReviewedFinding = Schema.Struct({
  /** Identifies the problem in all reviews of its repository. */
  fingerprint: Schema.String,
  severity: Severity,
  category: Schema.String,
  title: Schema.optionalKey(Schema.String),
  message: Schema.String,
  suggestion: Schema.optionalKey(Schema.String),
  file: Schema.String,
  /** Line at the head, or on the old side of the diff for a deleted line. */
  line: Schema.optionalKey(Schema.Int),
  /** Id of the rule of the repository that it breaks. */
  rule: Schema.optionalKey(Schema.String)
})

export const ReviewData = Schema.Struct({
  run_id: Schema.String,
  provider: TriggerKind,
  trigger: Schema.String,
  workspace: Schema.String,
  repository: Schema.String,
  target: Schema.Struct({
    kind: TargetKind,
    number: Schema.optionalKey(Schema.Int),
    branch: Schema.optionalKey(Schema.String)
  }),
  /** Address of the pull request or issue at its host. */
  url: Schema.optionalKey(Schema.String),
  /** Address of the run in the dashboard. */
  run_url: Schema.optionalKey(Schema.String),
  /** Reviewed commit, revision or changelist. */
  head: Schema.String,
  findings: Schema.Array(ReviewedFinding),
  /** Number of findings that the channel leaves out: below its severity, or beyond its number. */
  hidden: Schema.Int
})
export type ReviewData = typeof ReviewData.Type
