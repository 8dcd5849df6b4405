/** Result of an analysis. Stored before anything is published, so that no crash makes anyone pay for it twice. */
import { Schema } from "effect"
import { Coverage } from "./Coverage.ts"
import { GroupMember } from "./GroupMembers.ts"
import { Severity } from "./Kinds.ts"
import { addUsd, noMoney, Usd } from "./Money.ts"
import { toSnakeCase } from "./Record.ts"
import { Finding } from "./Problem.ts"
import { StatusState } from "./Publication.ts"
import { Reason } from "./Reason.ts"
import { RepositorySettings } from "./RepositorySettings.ts"
import { ReviewRound } from "./Round.ts"
import { RuleUse } from "./RuleUse.ts"
import { CheckedCode } from "./IssueCode.ts"
import { CommentReply } from "./CommentReply.ts"
import { TriageDecision } from "./Triage.ts"

const usageFields = {
  requests: Schema.Int,
  inputTokens: Schema.Int,
  outputTokens: Schema.Int,
  cachedTokens: Schema.Int,
  /** Absent if a price is unknown. */
  costUsd: Schema.optional(Usd)
}

/** Usage of one model. */
export const ModelUsage = Schema.Struct({
  ...usageFields,
  /** Part of the output tokens. */
  reasoningTokens: Schema.Int
})
export type ModelUsage = typeof ModelUsage.Type

export const Usage = Schema.Struct({
  ...usageFields,
  /** Parts by model, as `provider/model`. Absent without a call. */
  byModel: Schema.optional(Schema.Record(Schema.String, ModelUsage))
})
export type Usage = typeof Usage.Type

export const noUsage: Usage = { requests: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: noMoney }

type Amounts = Omit<Usage, "byModel">

const addAmounts = (a: Amounts, b: Amounts): Amounts => ({
  requests: a.requests + b.requests,
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  cachedTokens: a.cachedTokens + b.cachedTokens,
  ...(a.costUsd === undefined || b.costUsd === undefined ? {} : { costUsd: addUsd(a.costUsd, b.costUsd) })
})

const addByModel = (a: Usage["byModel"] = {}, b: Usage["byModel"] = {}): Readonly<Record<string, ModelUsage>> => {
  const sum = new Map(Object.entries(a))
  for (const [model, usage] of Object.entries(b)) {
    const before = sum.get(model)
    const reasoningTokens = (before?.reasoningTokens ?? 0) + usage.reasoningTokens
    sum.set(model, before === undefined ? usage : { ...addAmounts(before, usage), reasoningTokens })
  }
  return Object.fromEntries(sum)
}

/** Adds usage. An unknown price makes the sum unknown. */
export const addUsage = (a: Usage, b: Usage): Usage => ({
  ...addAmounts(a, b),
  ...(a.byModel === undefined && b.byModel === undefined ? {} : { byModel: addByModel(a.byModel, b.byModel) })
})

/** Converts usage to JSON with stable field names; the cost is null while a price is unknown. */
export const usageJson = ({ cachedTokens, costUsd, inputTokens, outputTokens, requests }: Usage) => ({
  ...toSnakeCase({ requests, inputTokens, outputTokens, cachedTokens }),
  cost_usd: costUsd ?? null
})

/** Measured facts about the reviewed files of a change. */
export const ChangeFacts = Schema.Struct({
  files: Schema.Int,
  additions: Schema.Int,
  deletions: Schema.Int,
  /** Paths, the riskiest first. */
  riskiest: Schema.Array(Schema.String),
  /** Number of test files. */
  tests: Schema.Int,
  /** Public names that the change alters or removes, by the parsed files. */
  names: Schema.optional(Schema.Array(Schema.Struct({ path: Schema.String, name: Schema.String })))
})
export type ChangeFacts = typeof ChangeFacts.Type

/** Patch of a file that was read completely, so that a later review of the same patch need not read it again. */
export const FilePatch = Schema.Struct({
  path: Schema.String,
  /** Independent of the position of the hunks in the file (review/PatchId.ts). */
  id: Schema.String,
  /** First lines of the hunks on the old and the new side, if the file has findings: their lines are relative to these. */
  starts: Schema.optional(Schema.Array(Schema.Tuple([Schema.Int, Schema.Int]))),
  /** Position in `carried` of the review that read it. Absent for a file that this review read. */
  carried: Schema.optional(Schema.Int)
})
export type FilePatch = typeof FilePatch.Type

/** A review that read files which a later one did not read again. */
export const CarriedReview = Schema.Struct({
  run: Schema.String,
  head: Schema.String,
  /** Digest of its configuration. */
  configuration: Schema.String,
  /** Models that responded to it, sorted. */
  models: Schema.Array(Schema.String),
  /** SHA-256 of its statement, in hex. Absent if it had none. */
  statement: Schema.optional(Schema.String),
  /** Number of these files. */
  files: Schema.Int
})
export type CarriedReview = typeof CarriedReview.Type

/** A finding that verification refuted: it is not published. */
export const RefutedFinding = Schema.Struct({
  finding: Finding,
  reason: Schema.String,
  /** Model that refuted it, as `provider/model`. */
  model: Schema.String,
  /** True if verification decided nothing about it, and it is not serious enough to be published like that. */
  undecided: Schema.optional(Schema.Boolean)
})
export type RefutedFinding = typeof RefutedFinding.Type

/** A finding of a kind that people rarely accept: the summary lists it, it has no comment and does not count. */
export const FoldedFinding = Schema.Struct({
  finding: Finding,
  why: Reason
})
export type FoldedFinding = typeof FoldedFinding.Type

/** A finding that only maintainers get (`review.private`). It counts like others; nothing of it is in any other publication or view. */
export const PrivateFinding = Schema.Struct({
  finding: Finding,
  /** Secret of its digest in the statement of the verdict. */
  salt: Schema.String
})
export type PrivateFinding = typeof PrivateFinding.Type

/** A file of rules that a review read, or the names that it listed: of files (`folder/`), or of folders (`folder/` with a star and a slash). */
export const RuleDigest = Schema.Struct({
  name: Schema.String,
  /** SHA-256 of the text, in hex. Absent: there was no such file. */
  sha256: Schema.optional(Schema.String)
})
export type RuleDigest = typeof RuleDigest.Type

/** Digests of the inputs of a review, for its statement. */
export const ReviewInputs = Schema.Struct({
  /** Commit that the head was compared with. */
  mergeBase: Schema.String,
  /** SHA-256 of the digests of all prompts, in hex. Independent of their order. */
  prompts: Schema.String,
  /** Sorted by name. */
  rules: Schema.Array(RuleDigest)
})
export type ReviewInputs = typeof ReviewInputs.Type

/** A pull request of a reviewed merge group, and the state of its own verdict. */
export const MemberVerdict = Schema.Struct({
  ...GroupMember.fields,
  /** Its last review, of the merged commit where the group names it. Absent: it has none into the base branch. */
  run: Schema.optional(Schema.String),
  /** Absent without a review: the review of the group read its files. */
  state: Schema.optional(StatusState)
})
export type MemberVerdict = typeof MemberVerdict.Type

export const Analysis = Schema.Struct({
  findings: Schema.Array(Finding),
  /** Findings that are in none of the other lists. Absent if there is none. */
  private: Schema.optional(Schema.Array(PrivateFinding)),
  /** Digests of such findings that verification refuted, of which nothing else is kept. Absent if there is none. */
  privateRefuted: Schema.optional(Schema.Array(Schema.Struct({ sha256: Schema.String }))),
  /** Markdown, written by the model. Empty without a model that wrote one. */
  summary: Schema.String,
  /** Commit that the summary describes, if it is that of an earlier review. */
  summaryHead: Schema.optional(Schema.String),
  facts: Schema.optional(ChangeFacts),
  /** Replaces the summary where no model wrote one. */
  conclusion: Schema.optional(Reason),
  /** Reason for skipping the review, of the model or because no line is to be reviewed. */
  skipped: Schema.optional(Reason),
  coverage: Coverage,
  /** Models that responded, as `provider/model`, in order of first use. */
  models: Schema.Array(Schema.String),
  usage: Usage,
  /** Information for the reader of the review: truncation, dropped problems, fallbacks. */
  notices: Schema.Array(Reason),
  /** True if a part was not read for a reason other than the configuration. */
  partial: Schema.optional(Schema.Boolean),
  refuted: Schema.optional(Schema.Array(RefutedFinding)),
  /** Findings on lines that an earlier round read, below the severity from which such ones are published. They do not count. */
  late: Schema.optional(Schema.Array(Finding)),
  folded: Schema.optional(Schema.Array(FoldedFinding)),
  /** True if the review could read repositories that only members may read: no later prompt has its findings. */
  restricted: Schema.optional(Schema.Literal(true)),
  /** Absent where the reviews of a target are not rounds. */
  round: Schema.optional(ReviewRound),
  /** Fingerprints of the findings that people with the permission have dismissed (`review.dismissal`), also of those that only maintainers get. */
  dismissed: Schema.optional(Schema.Array(Schema.String)),
  patches: Schema.optional(Schema.Array(FilePatch)),
  /** Reviews that read the files which this one did not read again. Absent if it read all. */
  carried: Schema.optional(Schema.Array(CarriedReview)),
  /** Rules of the repository that applied to what was read. Absent if there is none. */
  rules: Schema.optional(Schema.Array(RuleUse)),
  /** Pull requests of a merge group in the order of merging. Absent if they are not known, and for other changes. */
  members: Schema.optional(Schema.Array(MemberVerdict)),
  /** Settings that the repository chose. Absent if its workspace permits none. */
  settings: Schema.optional(RepositorySettings),
  /** Absent where nothing was reviewed, such as for a reply. */
  inputs: Schema.optional(ReviewInputs),
  /** Code of open managed issues that is gone from its file at the head, or moved with it. Absent if there is none. */
  checked: Schema.optional(Schema.Array(CheckedCode)),
  /** Decision about an issue; there are no findings then. */
  triage: Schema.optional(TriageDecision),
  /** Reply to a comment; there are no findings then. */
  reply: Schema.optional(CommentReply)
})
export type Analysis = typeof Analysis.Type

/** Returns the findings that are not dismissed: those that count. */
export const openFindings = ({ dismissed = [], findings }: Pick<Analysis, "dismissed" | "findings">) =>
  findings.filter(({ fingerprint }) => !dismissed.includes(fingerprint))

/** Returns the findings that count and that no model made; those that only maintainers get are not among them. */
export const listFacts = (analysis: Pick<Analysis, "dismissed" | "findings">): ReadonlyArray<Finding> =>
  openFindings(analysis).filter(({ fact }) => fact !== undefined)

type Found = Pick<Analysis, "findings" | "private">

/** Returns the findings with those that only maintainers get. No text of them may reach anyone else. */
export const allFindings = ({ findings, private: delivered = [] }: Found): ReadonlyArray<Finding> => [
  ...findings,
  ...delivered.map(({ finding }) => finding)
]

/** Returns the findings that only maintainers get and that count. */
export const openPrivate = ({
  dismissed = [],
  private: delivered = []
}: Pick<Analysis, "dismissed" | "private">): ReadonlyArray<PrivateFinding> =>
  delivered.filter(({ finding }) => !dismissed.includes(finding.fingerprint))

/** Returns the notices about the findings that only maintainers get: how many count, and how many do not. */
export const deliveredNotices = (analysis: Pick<Analysis, "dismissed" | "private">): ReadonlyArray<Reason> => {
  const count = openPrivate(analysis).length
  const dismissed = (analysis.private?.length ?? 0) - count
  return [
    ...(count === 0 ? [] : [{ _tag: "DeliveredPrivately", count } as const]),
    ...(dismissed === 0 ? [] : [{ _tag: "DismissedPrivately", count: dismissed } as const])
  ]
}

/** Returns the analysis with these findings dismissed. */
export const withDismissed = (analysis: Analysis, dismissed: ReadonlyArray<string>): Analysis => {
  const decided = { ...analysis, dismissed }
  const others = analysis.notices.filter(({ _tag }) => _tag !== "DeliveredPrivately" && _tag !== "DismissedPrivately")
  return { ...decided, notices: [...others, ...deliveredNotices(decided)] }
}

export const countedFindings = ({ dismissed, ...found }: Found & Pick<Analysis, "dismissed">): ReadonlyArray<Finding> =>
  openFindings({ dismissed, findings: allFindings(found) })

/** Returns the severities of the findings that count, also of those that only maintainers get. */
export const countedSeverities = (analysis: Found & Pick<Analysis, "dismissed">): ReadonlyArray<Severity> =>
  countedFindings(analysis).map(({ problem }) => problem.severity)

/** Returns the number of findings, dismissed ones and those that only maintainers get among them. */
export const countProblems = (analysis: Found): number => allFindings(analysis).length

/** Returns whether a review is the first one of its target, as far as the reviews of a target are rounds. */
export const isFirstRound = ({ round }: Pick<Analysis, "round">): boolean =>
  round === undefined || (round.number === 1 && round.isResumed === undefined)

/** Returns whether a review found something that no earlier round reported. */
export const hasNews = ({ round, ...found }: Found & Pick<Analysis, "dismissed" | "round">): boolean =>
  isFirstRound({ round }) || countedFindings(found).some((finding) => finding.round?.kind !== "carried")

/** Returns how often each severity occurs, the most severe first. */
export const countBySeverity = (severities: ReadonlyArray<Severity>) =>
  Severity.literals
    .toReversed()
    .map((severity) => ({ severity, count: severities.filter((other) => other === severity).length }))
    .filter(({ count }) => count > 0)

/** Returns whether the budget refused the first model call, so that no part of the change was read. */
export const isRefusedByBudget = ({ coverage, usage }: Pick<Analysis, "coverage" | "usage">): boolean =>
  usage.requests === 0 && coverage.lines === 0 && coverage.skipped.some(({ reason }) => reason === "budget")
