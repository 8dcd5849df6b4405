/**
 * The passes of a change. Each goes through its stages by itself, so that nothing waits for the slowest pass:
 *
 * ```
 * pass ──▶ analyse ──▶ anchor and merge ──▶ verify ──┐
 * pass ──▶ analyse ──▶ anchor and merge ──▶ verify ──┼──▶ join
 *                              └── notes of all ──▶ summary ──┘
 * ```
 * When a pass fails, the findings of the others are kept. The review fails when all passes fail, and when a failure is transient and
 * the review is attempted again: recorded responses of the passes that did not fail are reused then.
 */
import { Deferred, Effect, Semaphore } from "effect"
import type { Result } from "effect"
import { Agent, waitsForProvider } from "../../agent/Agent.ts"
import type { AgentError, AgentReport } from "../../agent/Agent.ts"
import { addUsage, noUsage } from "../../domain/Analysis.ts"
import type { RefutedFinding } from "../../domain/Analysis.ts"
import { addUnusable } from "../../domain/Coverage.ts"
import type { Unusable } from "../../domain/Coverage.ts"
import type { Severity } from "../../domain/Kinds.ts"
import type { Finding } from "../../domain/Problem.ts"
import { distinctReasons } from "../../domain/Reason.ts"
import type { Reason } from "../../domain/Reason.ts"
import { ModelRun } from "../../llm/ModelRun.ts"
import { calibrate } from "../../review/Calibrate.ts"
import { applyRule, citeRules } from "../../review/CitedRules.ts"
import { mergeFindings } from "../../review/Merge.ts"
import type { Merged } from "../../review/Merge.ts"
import type { CheckoutError } from "../../vcs/Checkout.ts"
import { inCacheOrder } from "../plan/CacheOrder.ts"
import { buildFindings } from "./Findings.ts"
import type { PassPlan, PlannedPass } from "../plan/PlanPasses.ts"
import type { EndedEarly, UnusableParts } from "../read/ReadCoverage.ts"
import { noSummary, collectNotes, writeSummary } from "./ReviewSummary.ts"
import type { WrittenSummary } from "./ReviewSummary.ts"
import type { AnalysisError } from "../AnalysisError.ts"
import { applyVerdicts, noVerdicts } from "./Verify.ts"
import { verifyBlind } from "./VerifyBlind.ts"
import type { Verified, VerifyContext } from "./Verify.ts"

/** Passes that are analysed, and that are verified, at the same time. The limiter of the gateway grants fewer where it must. */
const analysedAtOnce = 16
const verifiedAtOnce = 8

interface PassesInput {
  readonly plan: PassPlan
  readonly context: VerifyContext
  readonly limits: { readonly minSeverity: Severity; readonly maxProblems: number }
  /** Whether a finding is verified. */
  readonly isVerified: (finding: Finding) => boolean
  /** False if a review that fails now is attempted again. */
  readonly isLastAttempt: boolean
}

export interface ReviewedPasses {
  /** Reports of the passes, joined. */
  readonly report: AgentReport
  /** Findings that no verdict refuted. A finding may occur in several passes. */
  readonly findings: ReadonlyArray<Finding>
  readonly refuted: ReadonlyArray<RefutedFinding>
  readonly overLimit: number
  readonly belowSeverity: number
  readonly cutPaths: ReadonlySet<string>
  /** Positions of the passes that did not get to read everything, and why. */
  readonly ended: ReadonlyMap<number, EndedEarly>
  readonly unusable: UnusableParts
  readonly notices: ReadonlyArray<Reason>
}

/** One pass after its analysis. */
interface AnalysedPass {
  readonly result: Result.Result<AgentReport, AgentError>
  readonly merged: Merged
  readonly notices: ReadonlyArray<Reason>
}

type PassError = AgentError | AnalysisError | CheckoutError

export const reviewPasses = Effect.fn("reviewPasses")(function* (
  input: PassesInput
): Effect.fn.Return<ReviewedPasses, PassError, Agent | ModelRun> {
  const { passes } = input.plan
  const analysing = yield* Semaphore.make(analysedAtOnce)
  const verifying = yield* Semaphore.make(verifiedAtOnce)
  const claimed = new Set<string>()
  const queued = inCacheOrder(passes).map((pass) => ({ pass, done: Deferred.makeUnsafe<AnalysedPass>() }))
  const reviewing = Effect.forEach(
    queued,
    Effect.fnUntraced(function* ({ done, pass }) {
      const span = Effect.withSpan("pass", { attributes: { pass: passes.indexOf(pass) + 1 } })
      const one = yield* analysing.withPermits(1)(span(analysePass(input, pass)))
      yield* Deferred.succeed(done, one)
      return yield* verifying.withPermits(1)(verifyPass(input, pass, one.merged.findings, claimed))
    }),
    { concurrency: "unbounded" }
  )
  const allAnalysed = Effect.forEach(queued, ({ done }) => Deferred.await(done))
  const [verified, injected, summary] = yield* Effect.all(
    [reviewing, reviewInjections(input, claimed), Effect.flatMap(allAnalysed, (all) => summarisePasses(input, all))],
    { concurrency: 3 }
  ).pipe(Effect.provideService(ModelRun, { ...(yield* ModelRun), expectedCalls: expectedCalls(passes.length) }))
  const analysed = yield* allAnalysed
  const verdicts = [injected.verified, ...verified]
  const failure = failureOf(input, analysed, verdicts)
  if (failure !== undefined) return yield* failure
  for (const { why } of errorsOf(analysed)) yield* Effect.logWarning("pass of a review failed", { reason: why })
  for (const reason of endedEarlyFor(analysed)) yield* Effect.logWarning("review ended early", { reason })
  return joinPasses(analysed, injected.merged, verdicts, summary)
})

/** One call per pass, the verification of some, and the summary. */
const expectedCalls = (passes: number): number => (passes === 1 ? 1 : passes + Math.ceil(passes / 2) + 1)

/** Analyses a pass, and anchors and merges what it reports. Without the thread of the change no pass can go on. */
const analysePass = Effect.fnUntraced(function* (
  { context: { change, checkout }, limits, plan }: PassesInput,
  pass: PlannedPass
): Effect.fn.Return<AnalysedPass, AnalysisError | CheckoutError, Agent | ModelRun> {
  const rules = plan.instructions.project
  const agent = yield* Agent
  const brief = yield* pass.brief
  const result = yield* Effect.result(Effect.ensuring(agent.analyse(brief), brief.onBegin ?? Effect.void))
  const problems = result._tag === "Success" ? result.success.problems : []
  const found = yield* buildFindings(change, checkout, citeRules(problems, rules), pass.isBlind)
  const findings = found.findings.map((finding) => applyRule(calibrate(finding), rules))
  return { result, merged: mergeFindings(findings, limits), notices: found.notices }
})

/** Verifies the findings of a pass that no other pass has verified or is verifying. */
const verifyPass = Effect.fnUntraced(function* (
  { context, isVerified, plan }: PassesInput,
  pass: PlannedPass | undefined,
  findings: ReadonlyArray<Finding>,
  claimed: Set<string>
): Effect.fn.Return<Verified, AnalysisError | CheckoutError, Agent | ModelRun> {
  const own = findings.filter((finding) => isVerified(finding) && !claimed.has(finding.fingerprint))
  for (const { fingerprint } of own) claimed.add(fingerprint)
  if (own.length === 0 || plan.brief.workspace.modelChain === undefined) return noVerdicts
  return yield* verifyBlind(context, plan, pass, own)
})

/** Text in the change that addresses the reviewer is reported whatever the models make of it. */
const reviewInjections = Effect.fnUntraced(function* (input: PassesInput, claimed: Set<string>) {
  const { context, limits, plan } = input
  const found = yield* buildFindings(context.change, context.checkout, yield* plan.injections, false)
  const merged = mergeFindings(found.findings.map(calibrate), limits)
  return { merged, verified: yield* verifyPass(input, undefined, merged.findings, claimed) }
})

/** Writes the summary of several passes, while other findings are verified. */
const summarisePasses = Effect.fnUntraced(function* (input: PassesInput, analysed: ReadonlyArray<AnalysedPass>) {
  const { brief, fence } = input.plan
  const notes = collectNotes(reportsOf(analysed))
  if (notes.length < 2 || failureOf(input, analysed, []) !== undefined) return noSummary
  const findings = analysed.flatMap(({ merged }) => merged.findings)
  return yield* writeSummary(brief, fence, notes, mergeFindings(findings, input.limits).findings)
})

const reportsOf = (analysed: ReadonlyArray<AnalysedPass>): ReadonlyArray<AgentReport> =>
  analysed.flatMap(({ result }) => (result._tag === "Success" ? [result.success] : []))

/** Failures of passes, with and without problems that they had reported before. */
const errorsOf = (analysed: ReadonlyArray<AnalysedPass>): ReadonlyArray<AgentError> =>
  analysed.flatMap(({ result }) =>
    result._tag === "Failure" ? [result.failure] : result.success.failure === undefined ? [] : [result.success.failure]
  )

/** Returns the failure of the review. */
const failureOf = (
  { isLastAttempt }: Pick<PassesInput, "isLastAttempt">,
  analysed: ReadonlyArray<AnalysedPass>,
  verified: ReadonlyArray<Verified>
): AgentError | undefined => {
  const errors = errorsOf(analysed)
  const reports = reportsOf(analysed)
  const all = [...errors, ...verified.flatMap((one) => one.errors)]
  // The run waits for the provider, and then only the calls without a response are made.
  const waiting = all.find(waitsForProvider)
  if (waiting !== undefined) return waiting
  const later = all.find(({ reason }) => reason === "retryable")
  if (later !== undefined && (!isLastAttempt || reports.length === 0)) return later
  const [first] = errors
  return reports.length === 0 ? first : undefined
}

/** Returns the reasons why passes ended before they had read everything. */
const endedEarlyFor = (analysed: ReadonlyArray<AnalysedPass>): ReadonlyArray<Reason> =>
  distinctReasons(reportsOf(analysed).flatMap(({ stopped }) => stopped ?? []))

const endedEarly = ({ result }: AnalysedPass): EndedEarly | undefined => {
  if (result._tag === "Failure" || result.success.failure !== undefined) return "failed"
  if (result.success.stopped === undefined) return undefined
  return result.success.isCutOff === true ? "output_limit" : "budget"
}

/** Returns what of the reports of a pass could not be used. */
const unusableOf = ({ result }: AnalysedPass): ReadonlyArray<Unusable> =>
  result._tag === "Success" ? (result.success.unusable ?? []) : []

const joinPasses = (
  analysed: ReadonlyArray<AnalysedPass>,
  injected: Merged,
  verified: ReadonlyArray<Verified>,
  summary: WrittenSummary
): ReviewedPasses => {
  const reports = reportsOf(analysed)
  const all = [injected, ...analysed.map(({ merged }) => merged)]
  const verdicts = new Map(verified.flatMap((one) => [...one.verdicts]))
  const { undecided, ...judged } = applyVerdicts(
    all.flatMap(({ findings }) => findings),
    verdicts
  )
  const dropped = judged.refuted.filter((one) => one.undecided === true).length
  const errors = errorsOf(analysed)
  const unverified = verified.reduce((sum, { failed }) => sum + failed, undecided)
  const report = joinReports(reports)
  return {
    report: {
      ...report,
      summary: summary.text ?? report.summary,
      models: [...new Set([...report.models, ...verified.flatMap(({ models }) => models), ...summary.models])],
      usage: [report.usage, ...verified.map(({ usage }) => usage), summary.usage].reduce(addUsage)
    },
    ...judged,
    overLimit: all.reduce((sum, { overLimit }) => sum + overLimit, 0),
    belowSeverity: all.reduce((sum, { belowSeverity }) => sum + belowSeverity, 0),
    cutPaths: new Set(all.flatMap(({ cutPaths }) => [...cutPaths])),
    ended: new Map(
      analysed.flatMap((one, index): ReadonlyArray<readonly [number, EndedEarly]> => {
        const reason = endedEarly(one)
        return reason === undefined ? [] : [[index, reason]]
      })
    ),
    unusable: {
      passes: new Set(analysed.flatMap((one, index) => (unusableOf(one).length === 0 ? [] : [index]))),
      counts: addUnusable(analysed.flatMap(unusableOf))
    },
    notices: [
      ...report.notices,
      ...counted(errors.length, (count) => ({ _tag: "PassesFailed", count, total: analysed.length })),
      ...distinctReasons(analysed.flatMap(({ notices }) => notices)),
      ...counted(judged.refuted.length - dropped, (count) => ({ _tag: "ProblemsRefuted", count })),
      ...counted(dropped, (count) => ({ _tag: "ProblemsUndecided", count })),
      ...counted(unverified, (count) => ({ _tag: "ProblemsUnverified", count }))
    ]
  }
}

const counted = (count: number, toNotice: (count: number) => Reason): ReadonlyArray<Reason> =>
  count === 0 ? [] : [toNotice(count)]

const joinReports = (reports: ReadonlyArray<AgentReport>): AgentReport => {
  const notes = collectNotes(reports)
  const skips = reports.flatMap(({ skipped }) => (skipped === undefined ? [] : [skipped]))
  return {
    problems: reports.flatMap(({ problems }) => problems),
    summary: notes.length === 0 ? undefined : notes.join("\n\n"),
    // One pass with something to say makes it a review.
    skipped: reports.length > 0 && skips.length === reports.length ? [...new Set(skips)].join(" ") : undefined,
    models: [...new Set(reports.flatMap(({ models }) => models))],
    usage: reports.map(({ usage }) => usage).reduce(addUsage, noUsage),
    notices: distinctReasons(reports.flatMap(({ notices }) => notices))
  }
}
