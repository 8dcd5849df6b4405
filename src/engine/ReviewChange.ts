/**
 * A review from checkout to findings: diff, plan, analyse, anchor, identify. The one path for the service and for
 * `aicr review`; knows no queue, no host and no channel. Pure steps are in review/, effects come through the contracts of
 * vcs/ and agent/.
 */
import { Effect, Fiber } from "effect"
import type { Snapshot, Workspace } from "../config/Snapshot.ts"
import type { Agent, AgentError, AgentReport } from "../agent/Agent.ts"
import type { Checkout, CheckoutError } from "../vcs/Checkout.ts"
import type { Analysis } from "../domain/Analysis.ts"
import type { Coverage } from "../domain/Coverage.ts"
import type { Lesson } from "../domain/Lesson.ts"
import type { Finding } from "../domain/Problem.ts"
import type { Catalog } from "../llm/catalog/Catalog.ts"
import type { Gateway } from "../llm/Gateway.ts"
import { calibrate } from "../review/Calibrate.ts"
import { carry, readPatches } from "../review/Carry.ts"
import type { Carried } from "../review/Carry.ts"
import { patchIds } from "../review/PatchId.ts"
import type { FileDiff } from "../review/FileDiff.ts"
import { scrubSecrets } from "../review/Secrets.ts"
import { likeDismissed, reflectionMode } from "../review/Reflection.ts"
import { mergeFindings } from "../review/Merge.ts"
import type { Merged } from "../review/Merge.ts"
import type { ContextMounts } from "./ContextMounts.ts"
import { addUsage, analyseBatches, noUsage } from "./AnalyseBatches.ts"
import { changedLines } from "./FitChange.ts"
import type { FittedChange } from "./FitChange.ts"
import { planPasses } from "./PlanPasses.ts"
import { findingsOf } from "./Findings.ts"
import type { PatchTooLarge } from "./PatchTooLarge.ts"
import { readChange } from "./ReadChange.ts"
import type { ReadChange } from "./ReadChange.ts"
import { runInTurns } from "./Turns.ts"
import { verifyFindings } from "./Verify.ts"

export interface ReviewInput {
  readonly snapshot: Snapshot
  readonly workspace: Workspace
  readonly checkout: Checkout
  readonly title: string | undefined
  readonly description: string | undefined
  /** Trigger-level filters: watch_path, include_cr_file, exclude_cr_file. */
  readonly filters: {
    readonly watchPath: ReadonlyArray<string>
    readonly include: ReadonlyArray<string>
    readonly exclude: ReadonlyArray<string>
  }
  /** The last stored analysis of the same target, published or not; used where review.incremental is on. */
  readonly previous?: Analysis | undefined
  /** What earlier reviews of the repository taught; used as review.reflection says. */
  readonly lessons?: ReadonlyArray<Lesson> | undefined
  /** Further repositories that may be read; taken when a model is about to be asked. */
  readonly context?: Effect.Effect<ContextMounts> | undefined
  /** Told what is being done, for people who wait. */
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
  | { readonly _tag: "Analysed"; readonly problems: number; readonly findings: number; readonly anchored: number }

/**
 * Fails before any model call where the patch is over its limit. A change without a reviewable line is skipped without a
 * model call. Whatever is left out is in `coverage` or in `notices`.
 */
export const reviewChange = Effect.fn("reviewChange")(function* (
  input: ReviewInput
): Effect.fn.Return<Analysis, AgentError | CheckoutError | PatchTooLarge, Agent | Catalog | Gateway> {
  const { checkout, workspace } = input
  const change = yield* readChange(checkout, workspace, input.filters)
  const previous = workspace.review.incremental ? input.previous : undefined
  // Without an earlier review nobody asks for them before the end.
  const identifying = yield* Effect.forkChild(runInTurns(patchIds(change.files)))
  const known = previous === undefined ? new Map<string, string>() : yield* Fiber.join(identifying)
  const carried = carry(change.files, known, previous)
  const coverage = coverageOf(change, carried)
  if (coverage.lines === 0) {
    yield* tell(input, { _tag: "Planned", files: 0, skipped: coverage.skipped.length, lines: 0, passes: 0 })
    return {
      findings: carried.findings,
      ...(carried.unchanged.length === 0 || input.previous === undefined
        ? { summary: "", skipped: nothingToRead(change) }
        : verdictOf(input.previous, carried)),
      coverage,
      models: [],
      usage: noUsage,
      notices: [...change.notices, ...stillStanding(carried)],
      patches: readPatches(change.files, yield* Fiber.join(identifying), carried.findings)
    }
  }
  const plan = yield* planPasses(input, change, carried)
  yield* tell(input, {
    _tag: "Planned",
    files: carried.files.length,
    skipped: coverage.skipped.length,
    lines: coverage.lines,
    passes: plan.passes.length
  })
  const { report, unread: ended } = yield* analyseBatches(plan.passes.map(({ brief }) => brief))
  const unread = new Map(
    plan.passes.flatMap(({ paths }, index) => {
      const reason = ended.get(index)
      return reason === undefined ? [] : paths.map((path) => [path, reason] as const)
    })
  )
  const cut = new Set(plan.fitted.cut.map(({ path }) => path))
  const found = yield* findingsOf(checkout, change.files, [...report.problems, ...plan.injections])
  const limits = { minSeverity: workspace.review.min_severity, maxProblems: workspace.review.max_problems }
  const merged = mergeFindings([...carried.findings, ...found.findings.map(calibrate)], limits)
  const verified = yield* verifyFindings({
    snapshot: input.snapshot,
    workspace,
    checkout,
    files: change.files,
    findings: merged.findings,
    settled: new Set(carried.findings),
    doubtful:
      reflectionMode(workspace.review.reflection) === "thorough" ? likeDismissed(input.lessons ?? []) : () => false
  })
  const { findings } = mergeFindings(verified.findings, limits)
  yield* tell(input, {
    _tag: "Analysed",
    problems: report.problems.length,
    findings: findings.length,
    anchored: findings.filter(({ anchor }) => anchor !== undefined).length
  })
  return {
    findings,
    ...endOf(report, findings, workspace),
    coverage: withoutUnread(yield* withoutCut(coverage, carried.files, plan.fitted), carried.files, unread),
    models: [...new Set([...plan.fitted.summaries.models, ...report.models, ...verified.models])],
    usage: [plan.fitted.summaries.usage, report.usage, verified.usage].reduce(addUsage),
    notices: [
      ...change.notices,
      ...stillStanding(carried),
      ...plan.notices,
      ...report.notices,
      ...found.notices,
      ...verified.notices,
      ...leftOut(merged, workspace)
    ],
    ...(unread.size === 0 ? {} : { partial: true }),
    ...(verified.refuted.length === 0 ? {} : { refuted: verified.refuted }),
    patches: readPatches(
      change.files.filter(
        (file) => !merged.cutPaths.has(file.path) && !isAmong(file, cut) && whyUnread(file, unread) === undefined
      ),
      yield* Fiber.join(identifying),
      findings
    )
  }
})

/** Passes name files as they show them: a commit of the change may show a file under its earlier name. */
const whyUnread = (
  { path, oldPath }: Pick<FileDiff, "path" | "oldPath">,
  unread: ReadonlyMap<string, "budget" | "failed">
): "budget" | "failed" | undefined => unread.get(path) ?? (oldPath === undefined ? undefined : unread.get(oldPath))

const isAmong = ({ path, oldPath }: FileDiff, paths: ReadonlySet<string>): boolean =>
  paths.has(path) || (oldPath !== undefined && paths.has(oldPath))

/** A file of which a hunk was cut was not read as a whole. */
const withoutCut = Effect.fnUntraced(function* (
  coverage: Coverage,
  files: ReadonlyArray<FileDiff>,
  fitted: FittedChange
): Effect.fn.Return<Coverage> {
  const cut = new Set(fitted.cut.map(({ path }) => path))
  const paths = files.flatMap((file) => (isAmong(file, cut) ? [file.path] : []))
  if (paths.length === 0) return coverage
  const left = new Set(paths)
  return {
    reviewed: coverage.reviewed.filter((path) => !left.has(path)),
    skipped: [...coverage.skipped, ...paths.map((path) => ({ path, reason: "compressed" as const }))],
    lines: yield* changedLines(fitted.files)
  }
})

/** Files whose pass failed, or ended when the money was used up, are not among the reviewed ones. */
const withoutUnread = (
  coverage: Coverage,
  files: ReadonlyArray<FileDiff>,
  unread: ReadonlyMap<string, "budget" | "failed">
): Coverage => {
  const left = files.flatMap((file) => {
    const reason = whyUnread(file, unread)
    return reason === undefined ? [] : [{ file, reason }]
  })
  const paths = new Set(left.map(({ file }) => file.path))
  return {
    reviewed: coverage.reviewed.filter((path) => !paths.has(path)),
    skipped: [
      ...coverage.skipped.filter(({ path }) => !paths.has(path)),
      ...left.map(({ file, reason }) => ({ path: file.path, reason }))
    ],
    lines: Math.max(0, coverage.lines - left.reduce((sum, { file }) => sum + file.additions + file.deletions, 0))
  }
}

const tell = (input: ReviewInput, step: ReviewStep): Effect.Effect<void> => input.progress?.(step) ?? Effect.void

const coverageOf = ({ skipped }: ReadChange, { files, unchanged }: Carried): Coverage => ({
  reviewed: [...new Set(files.map(({ path }) => path))],
  skipped: [...skipped, ...unchanged.map(({ path }) => ({ path, reason: "unchanged" as const }))],
  lines: files.reduce((sum, { additions, deletions }) => sum + additions + deletions, 0)
})

const nothingToRead = ({ files, skipped }: ReadChange): string => {
  if (files.length + skipped.length === 0) return "The change is empty."
  return skipped.length === 0
    ? "The change moves files or alters their modes; no line is changed."
    : "No changed line passes the filters of the review."
}

/** Nothing is read anew: what was said of the change holds. */
const verdictOf = ({ summary, skipped }: Analysis, { findings }: Carried) => ({
  summary,
  ...(skipped === undefined || findings.length > 0 ? {} : { skipped })
})

const stillStanding = ({ unchanged, findings }: Carried): ReadonlyArray<string> =>
  unchanged.length === 0
    ? []
    : [
        `${unchanged.length} files are unchanged since the last review and were not read again; ${findings.length} problems found in them still stand.`
      ]

/** A clean change may be passed over where review.skip_lgtm is on; otherwise the model's reason is what the review says. */
const endOf = (
  { problems, skipped, summary = "" }: AgentReport,
  findings: ReadonlyArray<Finding>,
  { review }: Workspace
): Pick<Analysis, "summary" | "skipped"> => {
  if (skipped === undefined || problems.length > 0 || findings.length > 0) return { summary: scrubSecrets(summary) }
  return review.skip_lgtm
    ? { summary: scrubSecrets(summary), skipped: scrubSecrets(skipped) }
    : { summary: scrubSecrets(summary.trim() === "" ? skipped : summary) }
}

const leftOut = (merged: Merged, { review }: Workspace): ReadonlyArray<string> => {
  const notices: Array<string> = []
  if (merged.overLimit > 0)
    notices.push(`${merged.overLimit} more problems are over review.max_problems (${review.max_problems}).`)
  if (merged.belowSeverity > 0) {
    notices.push(`${merged.belowSeverity} problems are below review.min_severity (${review.min_severity}).`)
  }
  return notices
}
