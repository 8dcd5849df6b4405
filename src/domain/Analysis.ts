/** What an analysis produced. Stored before anything is published, so that no crash makes anyone pay for it twice. */
import { Schema } from "effect"
import { Coverage } from "./Coverage.ts"
import { addUsd, noMoney, Usd } from "./Money.ts"
import { Finding } from "./Problem.ts"
import { TriageDecision } from "./Triage.ts"

export const Usage = Schema.Struct({
  requests: Schema.Int,
  inputTokens: Schema.Int,
  outputTokens: Schema.Int,
  cachedTokens: Schema.Int,
  /** Absent when a price is unknown. */
  costUsd: Schema.optional(Usd)
})
export type Usage = typeof Usage.Type

export const noUsage: Usage = { requests: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: noMoney }

/** An unknown price makes the sum unknown. */
export const addUsage = (a: Usage, b: Usage): Usage => ({
  requests: a.requests + b.requests,
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  cachedTokens: a.cachedTokens + b.cachedTokens,
  ...(a.costUsd === undefined || b.costUsd === undefined ? {} : { costUsd: addUsd(a.costUsd, b.costUsd) })
})

/** As programs read it: field names are stable, and the cost is null while a price is unknown. */
export const usageJson = (usage: Usage) => ({
  requests: usage.requests,
  input_tokens: usage.inputTokens,
  output_tokens: usage.outputTokens,
  cached_tokens: usage.cachedTokens,
  cost_usd: usage.costUsd ?? null
})

/** A file that was read whole: what its patch was, so that a later review of the same patch need not read it again. */
export const FilePatch = Schema.Struct({
  path: Schema.String,
  /** The same wherever the hunks stand in the file (review/PatchId.ts). */
  id: Schema.String,
  /** First lines of its hunks on the old and the new side, where findings stand in it: what their lines are counted from. */
  starts: Schema.optional(Schema.Array(Schema.Tuple([Schema.Int, Schema.Int])))
})
export type FilePatch = typeof FilePatch.Type

/** A finding that a second look refuted: it is not published. */
export const RefutedFinding = Schema.Struct({
  finding: Finding,
  reason: Schema.String,
  /** `provider/model` that refuted it. */
  model: Schema.String
})
export type RefutedFinding = typeof RefutedFinding.Type

export const Analysis = Schema.Struct({
  findings: Schema.Array(Finding),
  /** Markdown, written by the model. */
  summary: Schema.String,
  /** The model chose to skip the review, and why. */
  skipped: Schema.optional(Schema.String),
  coverage: Coverage,
  /** Models that answered, as `provider/model`, in order of first use. */
  models: Schema.Array(Schema.String),
  usage: Usage,
  /** Things the reader of the review must know: truncation, dropped problems, fallbacks. */
  notices: Schema.Array(Schema.String),
  /** Part of what should have been read was not, for a reason other than the configuration. */
  partial: Schema.optional(Schema.Boolean),
  refuted: Schema.optional(Schema.Array(RefutedFinding)),
  /** Absent in records of earlier versions. */
  patches: Schema.optional(Schema.Array(FilePatch)),
  /** Of an issue; there are no findings then. */
  triage: Schema.optional(TriageDecision)
})
export type Analysis = typeof Analysis.Type
