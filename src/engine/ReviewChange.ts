/**
 * A review from checkout to findings, in stages: read the change, carry over what an earlier review read, plan passes, review
 * the passes (ReviewPasses.ts), join. The service and `aicr review` share this path, which is independent of queue, host and
 * channel. Pure steps are in review/, effects come through the contracts of vcs/ and agent/.
 */
import { Effect } from "effect"
import type { Scope } from "effect"
import type { Workspace } from "../config/Snapshot.ts"
import { Agent } from "../agent/Agent.ts"
import type { AgentError, AgentReport, PassProgress } from "../agent/Agent.ts"
import type { CheckoutError } from "../vcs/Checkout.ts"
import { addUsage, isRefusedByBudget, noUsage } from "../domain/Analysis.ts"
import type { Analysis, FilePatch, FoldedFinding } from "../domain/Analysis.ts"
import { carriedReaders } from "../domain/CarriedReview.ts"
import { boundCoverage, countSkipped, hasUnreadText, isMostlyRead } from "../domain/Coverage.ts"
import type { Coverage } from "../domain/Coverage.ts"
import type { Finding } from "../domain/Problem.ts"
import type { Catalog } from "../llm/Catalog.ts"
import { foldedNotices, foldFindings, splitFolded } from "../review/FoldFindings.ts"
import { withoutRepetition } from "../review/Repetition.ts"
import { joinPrivate, privateFindings, separatePrivate } from "../review/PrivateFindings.ts"
import { scrubSecrets } from "../review/Secrets.ts"
import { likeDismissed, reflectionMode } from "../review/Reflection.ts"
import { measureChange } from "../review/MeasureChange.ts"
import { mergeFindings } from "../review/Merge.ts"
import type { Merged } from "../review/Merge.ts"
import { credentialFindings } from "./passes/Credentials.ts"
import { checkIssueCode } from "./passes/CheckIssueCode.ts"
import type { IssueCodeInput } from "./passes/CheckIssueCode.ts"
import { coverageAfter, measureCoverage, unreadNotices } from "./read/ReadCoverage.ts"
import type { CarriedFiles } from "./read/ReadCoverage.ts"
import { deriveFence } from "./plan/Fence.ts"
import { planPasses } from "./plan/PlanPasses.ts"
import type { PassPlan, PlanInput } from "./plan/PlanPasses.ts"
import type { PatchTooLarge } from "./read/PatchTooLarge.ts"
import { noteInputs, withCarriedRules } from "./read/NoteInputs.ts"
import { readChange } from "./read/ReadChange.ts"
import { readSettings } from "./read/ReadSettings.ts"
import type { ReadChange } from "./read/ReadChange.ts"
import type { AnalysisError } from "./AnalysisError.ts"
import { ChangeThreads } from "./ChangeThreads.ts"
import type { ChangeThread } from "./ChangeThreads.ts"
import { reviewPasses } from "./passes/ReviewPasses.ts"
import { recordRound, settleFindings } from "./passes/SettleRound.ts"
import type { RoundContext } from "./passes/SettleRound.ts"
import { withSettings } from "../domain/RepositorySettings.ts"
import { carriedOn } from "../review/Rounds.ts"
import { toRuleUse } from "../review/Rules.ts"
import type { ReviewedPasses } from "./passes/ReviewPasses.ts"
import { isVerified } from "./passes/Verify.ts"
import type { RuleUse } from "../domain/RuleUse.ts"
import type { FileFacts } from "./work/ReadWork.ts"
import type { ModelRun } from "../llm/ModelRun.ts"
import { verbatimReason } from "../domain/Reason.ts"
import type { Reason } from "../domain/Reason.ts"

export interface ReviewInput extends Omit<PlanInput, "onProgress"> {
  /** Trigger-level filters: watch_path, include_cr_file, exclude_cr_file. */
  readonly filters: {
    readonly watchPath: ReadonlyArray<string>
    readonly include: ReadonlyArray<string>
    readonly exclude: ReadonlyArray<string>
  }
  /** The last stored analysis of the same target against the same base, published or not. */
  readonly previous?: Analysis | undefined
  /** Code of open managed issues, which is searched for at the head. */
  readonly issueCode?: IssueCodeInput | undefined
  /** Leaked credentials of a recorded review, which take the place of those that are found. */
  readonly recordedCredentials?: ReadonlyArray<Finding> | undefined
  /** Files that a recorded review did not read again. Its record has patches without secrets, which have other digests. */
  readonly recordedUnchanged?: ReadonlySet<string> | undefined
  /** False if a review that fails is attempted again, so that failed passes are repeated. Default: true. */
  readonly isLastAttempt?: boolean | undefined
  /** Receives the current step, for people who wait. */
  readonly progress?: ((step: ReviewStep) => Effect.Effect<void>) | undefined
}

export type ReviewStep =
  | {
      readonly _tag: "Planned"
      readonly files: number
      readonly skipped: number
      readonly lines: number
      readonly passes: number
    }
  /** Progress of an agent CLI in one pass. */
  | { readonly _tag: "Working"; readonly pass: number; readonly progress: PassProgress }
  | { readonly _tag: "Analysed"; readonly problems: number; readonly findings: number; readonly anchored: number }

/**
 * Reviews a change. Fails before any model call where the patch is over its limit. A change without a reviewable line
 * is skipped without a model call. Everything that is skipped is in `coverage` or in `notices`.
 */
export const reviewChange = Effect.fn("reviewChange")(function* (
  given: ReviewInput
): Effect.fn.Return<
  Analysis,
  AgentError | CheckoutError | PatchTooLarge | AnalysisError,
  Agent | Catalog | ChangeThreads | ModelRun | Scope.Scope
> {
  const { previous } = given
  const noted = noteInputs(given.checkout)
  const chosen = yield* readSettings(noted.checkout, given.workspace)
  const workspace = withSettings(given.workspace, chosen?.settings)
  const isPrivate = privateFindings(workspace.review)
  const input = {
    ...given,
    workspace,
    checkout: noted.checkout,
    ...(previous === undefined ? {} : { previous: joinPrivate(previous, isPrivate) })
  }
  const change = yield* (yield* ChangeThreads).open(threadMemory(workspace))
  const read = yield* readChange(change, input.checkout, workspace, input.filters, chosen?.settings.exclude)
  // Before the commits of the change, which take its place in the thread.
  const checked = yield* checkIssueCode(change, input.issueCode)
  const carried = yield* carryOver(change, read, input)
  const coverage = measureCoverage(read, carried)
  const analysis =
    coverage.lines === 0
      ? yield* nothingToAnalyse(change, input, read, carried, coverage)
      : yield* analyse(change, input, read, carried, coverage).pipe(
          Effect.provideService(Agent, noted.watch(yield* Agent))
        )
  const key = yield* deriveFence(["private", given.checkout.head])
  const shown = separatePrivate(analysis, isPrivate, key, previous?.private)
  return {
    ...shown,
    notices: [...(chosen?.notices ?? []), ...shown.notices],
    ...(chosen === undefined ? {} : { settings: chosen.settings }),
    ...carriedReaders(
      shown,
      previous,
      carried.unchanged.map(({ path }) => path)
    ),
    ...(carried.unchanged.length > 0 && previous?.restricted === true ? { restricted: true as const } : {}),
    inputs: carried.unchanged.length === 0 ? noted.inputs() : withCarriedRules(noted.inputs(), previous?.inputs),
    ...(checked.length === 0 ? {} : { checked })
  }
}, Effect.scoped)

/** Heap for a change: lines of a patch in memory take several times the bytes that git prints of them. */
const threadMemory = ({ review }: Workspace): number =>
  Math.max(768, 24 * Math.ceil(review.max_patch_bytes / 1_048_576))

/**
 * Carries over what the last review read. Without `review.incremental` files are read again, unless a round would read nothing else: the
 * patches of the change are as they were.
 */
const carryOver = Effect.fnUntraced(function* (
  change: ChangeThread,
  read: ReadChange,
  { previous, recordedUnchanged, round, workspace }: ReviewInput
): Effect.fn.Return<CarriedFiles, AnalysisError> {
  const { files } = read
  const { incremental } = workspace.review
  const none: CarriedFiles = { files, unchanged: [], findings: [], late: [], folded: [] }
  if (previous === undefined || round?.rereads === true || (!incremental && round === undefined)) return none
  const late = new Set(previous.late?.map(({ fingerprint }) => fingerprint))
  const hidden = [...(previous.late ?? []), ...(previous.folded ?? []).map(({ finding }) => finding)]
  const claims = [...previous.findings, ...hidden].filter(({ fact }) => fact === undefined)
  const { patches } = previous
  const known =
    recordedUnchanged === undefined
      ? patches
      : recordedPatches(patches, yield* patchesOf(change, read, ({ path }) => recordedUnchanged.has(path), []))
  const { unchanged, findings } = yield* change.run("carry", claims, known, !incremental)
  const positions = new Set(unchanged)
  const { folded, others } = splitFolded(findings, previous.folded)
  const published = others.filter(({ fingerprint }) => !late.has(fingerprint))
  return {
    files: files.filter((_, at) => !positions.has(at)),
    unchanged: files.filter((_, at) => positions.has(at)),
    findings: round === undefined ? published : carriedOn(published, round.number + 1),
    late: others.filter(({ fingerprint }) => late.has(fingerprint)),
    folded
  }
})

/** Returns the earlier patches of the files with a present one, under its digest. */
const recordedPatches = (earlier: Analysis["patches"], present: ReadonlyArray<FilePatch>) => {
  const ids = new Map(present.map(({ id, path }) => [path, id]))
  return earlier?.flatMap((patch) => {
    const id = ids.get(patch.path)
    return id === undefined ? [] : [{ ...patch, id }]
  })
}

/** Returns the patches to store: those of files that were read completely, or whose earlier review is still valid. */
const patchesOf = (
  change: ChangeThread,
  { files }: ReadChange,
  isRead: (file: FileFacts) => boolean,
  findings: ReadonlyArray<Finding>
) =>
  change.run(
    "patches",
    Int32Array.from(files.flatMap((file, at) => (isRead(file) ? [at] : []))),
    findings.flatMap(({ anchor }) => (anchor === undefined ? [] : [{ anchor }]))
  )

const nothingToAnalyse = Effect.fnUntraced(function* (
  change: ChangeThread,
  input: ReviewInput,
  read: ReadChange,
  carried: CarriedFiles,
  coverage: Coverage
): Effect.fn.Return<Analysis, AnalysisError | CheckoutError, ModelRun> {
  yield* reportProgress(input, { _tag: "Planned", files: 0, skipped: countSkipped(coverage), lines: 0, passes: 0 })
  const round = roundContext(change, input)
  const facts = yield* settleFindings(round, yield* findCredentials(change, input))
  const { findings } = mergeFindings([...facts.published, ...carried.findings], limitsOf(input.workspace))
  return {
    findings,
    ...lateFindings(carried.late, findings, input.workspace),
    ...foldedFindings(carried.folded, findings, input.workspace),
    ...(carried.unchanged.length === 0 || input.previous === undefined
      ? nothingRead(read, isOpen(coverage, input.workspace))
      : verdictOf(input.previous, carried)),
    facts: measureChange(read.files, earlierNames(input.previous, carried)),
    coverage: boundCoverage(coverage),
    models: [],
    usage: noUsage,
    notices: [
      ...read.notices,
      ...carriedOverNotice(carried),
      ...foldedNotices(carried.folded, findings),
      ...unreadNotices(coverage)
    ],
    ...(isMostlyRead(coverage) ? {} : { partial: true }),
    patches: yield* patchesOf(change, read, () => true, [
      ...findings,
      ...carried.late,
      ...carried.folded.map(({ finding }) => finding)
    ]),
    ...(yield* recordRound(round, coverage, findings, { cut: [], ended: [] }))
  }
})

const analyse = Effect.fnUntraced(function* (
  change: ChangeThread,
  input: ReviewInput,
  all: ReadChange,
  carried: CarriedFiles,
  coverage: Coverage
): Effect.fn.Return<Analysis, AgentError | CheckoutError | PatchTooLarge | AnalysisError, Agent | Catalog | ModelRun> {
  const { checkout, workspace } = input
  const limits = limitsOf(workspace)
  const plan = yield* planPasses(change, { ...input, onProgress: workingStep(input) }, all, carried)
  yield* reportProgress(input, {
    _tag: "Planned",
    files: carried.files.length,
    skipped: countSkipped(coverage),
    lines: coverage.lines,
    passes: plan.passes.length
  })
  yield* input.beforeModels ?? Effect.void
  // The thread computes the final parts of the review while models work.
  const [passes, facts] = yield* Effect.all(
    [
      reviewPasses({
        plan,
        context: { change, checkout, fence: plan.fence },
        limits,
        isVerified: isVerified(workspace, doubtful(input)),
        isLastAttempt: input.isLastAttempt ?? true
      }),
      findCredentials(change, input)
    ],
    { concurrency: 2 }
  )
  const models = [...new Set([...plan.fitted.summaries.models, ...passes.report.models])]
  const round = roundContext(change, input)
  const settled = yield* settleAll(round, input, facts, passes.findings, models[0])
  const known = settled.shown.filter(({ fact }) => fact !== undefined)
  const claims = settled.shown.filter(({ fact }) => fact === undefined)
  const merged = mergeFindings([...known, ...carried.findings, ...claims], limits)
  const late = lateFindings([...carried.late, ...settled.late], merged.findings, workspace)
  const folded = foldedFindings([...carried.folded, ...settled.folded], merged.findings, workspace)
  const read = coverageAfter(coverage, carried.files, { ...plan, ended: passes.ended, unusable: passes.unusable })
  yield* reportProgress(input, analysedStep(passes.report.problems.length, merged.findings))
  const { summaries } = plan.fitted
  const cutPaths = new Set([...merged.cutPaths, ...passes.cutPaths])
  const usage = addUsage(summaries.usage, passes.report.usage)
  const incomplete = new Set(read.skipped.flatMap(({ path, changed }) => (changed === undefined ? [] : [path])))
  return {
    findings: merged.findings,
    ...late,
    ...folded,
    ...(isRefusedByBudget({ coverage: read, usage })
      ? { summary: "", conclusion: { _tag: "NotReviewedForBudget" } as const }
      : endOf(passes.report, merged.findings, workspace, isOpen(read, workspace))),
    facts: measureChange(all.files, [...earlierNames(input.previous, carried), ...plan.names]),
    ...withInstructions(plan, boundCoverage(read)),
    models,
    usage,
    notices: [
      ...all.notices,
      ...carriedOverNotice(carried),
      ...plan.notices,
      ...passes.notices,
      ...foldedNotices(folded.folded ?? [], merged.findings),
      ...omittedNotices(merged, passes, workspace),
      ...unreadNotices(read)
    ],
    ...(passes.ended.size === 0 && read.unusable === undefined && isMostlyRead(read) ? {} : { partial: true }),
    ...(passes.refuted.length === 0 ? {} : { refuted: passes.refuted }),
    patches: yield* patchesOf(change, all, ({ path }) => !cutPaths.has(path) && !incomplete.has(path), [
      ...merged.findings,
      ...(late.late ?? []),
      ...(folded.folded ?? []).map(({ finding }) => finding)
    ]),
    ...(yield* recordRound(round, read, merged.findings, {
      cut: [...cutPaths],
      ended: [...passes.ended.keys(), ...passes.unusable.passes]
    }))
  }
})

/** Adds the instructions of the repository to the coverage, and the rules among them. */
const withInstructions = (
  { instructions: { muted, project, sources } }: PassPlan,
  coverage: Coverage
): Pick<Analysis, "coverage" | "rules"> => ({
  coverage: sources.length === 0 ? coverage : { ...coverage, instructions: sources },
  ...(project.length + muted.length === 0
    ? {}
    : {
        rules: [...project.map(toRuleUse), ...muted.map((rule): RuleUse => ({ ...toRuleUse(rule), muted: true }))]
      })
})

/** Decides which findings are published, late or folded. */
const settleAll = Effect.fnUntraced(function* (
  round: RoundContext | undefined,
  { acceptance, previous, workspace }: ReviewInput,
  facts: ReadonlyArray<Finding>,
  found: ReadonlyArray<Finding>,
  model: string | undefined
) {
  const earlier = splitFolded(found, previous?.folded)
  const { late, published } = yield* settleFindings(round, [...facts, ...earlier.others])
  const isPrivate = privateFindings(workspace.review)
  const open = published.filter((finding) => !isPrivate(finding))
  const { folded, shown } = foldFindings(open, { acceptance, model, published: previous?.findings ?? [] })
  return { late, shown: [...shown, ...published.filter(isPrivate)], folded: [...earlier.folded, ...folded] }
})

const findCredentials = (change: ChangeThread, { checkout, recordedCredentials, workspace }: ReviewInput) =>
  recordedCredentials === undefined
    ? credentialFindings(change, checkout, workspace)
    : Effect.succeed(recordedCredentials)

const roundContext = (change: ChangeThread, { checkout, previous, round }: ReviewInput): RoundContext | undefined =>
  round && { change, head: checkout.head, earlier: round, previous }

/** Returns the late findings that are not published, in their order. */
const lateFindings = (
  found: ReadonlyArray<Finding>,
  published: ReadonlyArray<Finding>,
  workspace: Workspace
): Pick<Analysis, "late"> => {
  const shown = new Set(published.map(({ fingerprint }) => fingerprint))
  const { findings } = mergeFindings(found, limitsOf(workspace))
  const late = findings.filter(({ fingerprint }) => !shown.has(fingerprint))
  return late.length === 0 ? {} : { late }
}

/** Returns the folded findings that are not published, in the order of findings. */
const foldedFindings = (
  all: ReadonlyArray<FoldedFinding>,
  published: ReadonlyArray<Finding>,
  workspace: Workspace
): Pick<Analysis, "folded"> => {
  const shown = new Set(published.map(({ fingerprint }) => fingerprint))
  const why = new Map(all.map((one) => [one.finding.fingerprint, one.why]))
  const { findings } = mergeFindings(
    all.map(({ finding }) => finding),
    limitsOf(workspace)
  )
  const folded = findings.flatMap((finding) => {
    const reason = why.get(finding.fingerprint)
    return reason === undefined || shown.has(finding.fingerprint) ? [] : [{ finding, why: reason }]
  })
  return folded.length === 0 ? {} : { folded }
}

const limitsOf = ({ review }: Workspace) => ({ minSeverity: review.min_severity, maxProblems: review.max_problems })

const analysedStep = (problems: number, findings: ReadonlyArray<Finding>): ReviewStep => ({
  _tag: "Analysed",
  problems,
  findings: findings.length,
  anchored: findings.filter(({ anchor }) => anchor !== undefined).length
})

const workingStep =
  (input: ReviewInput) =>
  (pass: number, progress: PassProgress): Effect.Effect<void> =>
    reportProgress(input, { _tag: "Working", pass, progress })

/** Returns whether a finding is like those that people dismissed before; such ones are verified at any severity. */
const doubtful = ({ lessons, workspace }: ReviewInput): ((finding: Finding) => boolean) =>
  reflectionMode(workspace.review.reflection) === "thorough" ? likeDismissed(lessons ?? []) : () => false

const reportProgress = (input: ReviewInput, step: ReviewStep): Effect.Effect<void> =>
  input.progress?.(step) ?? Effect.void

/** Added text was not read and the configuration does not let that pass, or too little was read. */
const isOpen = (coverage: Coverage, { review }: Workspace): boolean =>
  !isMostlyRead(coverage) || (review.unread !== "ignore" && hasUnreadText(coverage))

/** Texts of a review without findings. */
type Conclusion = Pick<Analysis, "conclusion" | "skipped" | "summary">

const nothingRead = (change: ReadChange, isUnread: boolean): Conclusion => ({
  summary: "",
  [isUnread ? "conclusion" : "skipped"]: nothingToRead(change)
})

const nothingToRead = ({ files, skipped }: ReadChange): Reason => {
  if (files.length + skipped.length === 0) return { _tag: "ChangeEmpty" }
  return { _tag: skipped.length === 0 ? "OnlyMoved" : "NothingPassesFilters" }
}

/** Returns the changed names of the files that are not read again. */
const earlierNames = (previous: Analysis | undefined, { unchanged }: CarriedFiles) => {
  const paths = new Set(unchanged.map(({ path }) => path))
  return previous?.facts?.names?.filter(({ path }) => paths.has(path)) ?? []
}

/** Returns the verdict where no file is read again: that of the earlier review. */
const verdictOf = ({ conclusion, summary, summaryHead, skipped }: Analysis, { findings }: CarriedFiles) => ({
  summary,
  ...(summaryHead === undefined ? {} : { summaryHead }),
  ...(conclusion === undefined ? {} : { conclusion }),
  ...(skipped === undefined || findings.length > 0 ? {} : { skipped })
})

const carriedOverNotice = ({ unchanged, findings }: CarriedFiles): ReadonlyArray<Reason> =>
  unchanged.length === 0 ? [] : [{ _tag: "FilesUnchanged", count: unchanged.length, problems: findings.length }]

/**
 * Returns the outcome. A clean change may be skipped where review.skip_lgtm is on; otherwise the model's reason becomes
 * the summary.
 */
const endOf = (
  { problems, skipped, summary = "" }: AgentReport,
  findings: ReadonlyArray<Finding>,
  { review }: Workspace,
  isUnread: boolean
): Conclusion => {
  const text = withoutRepetition(scrubSecrets(summary))
  if (skipped === undefined || problems.length > 0 || findings.length > 0) return { summary: text }
  return review.skip_lgtm && !isUnread
    ? { summary: text, skipped: verbatimReason(scrubSecrets(skipped)) }
    : { summary: text.trim() === "" ? scrubSecrets(skipped) : text }
}

const omittedNotices = (merged: Merged, passes: ReviewedPasses, { review }: Workspace): ReadonlyArray<Reason> => {
  const overLimit = merged.overLimit + passes.overLimit
  const belowSeverity = merged.belowSeverity + passes.belowSeverity
  const notices: Array<Reason> = []
  if (overLimit > 0) notices.push({ _tag: "ProblemsOverLimit", count: overLimit, limit: review.max_problems })
  if (belowSeverity > 0)
    notices.push({ _tag: "ProblemsBelowSeverity", count: belowSeverity, severity: review.min_severity })
  return notices
}
