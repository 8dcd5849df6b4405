/**
 * Ends a run: stores its analysis together with its publications, or its failure or cancellation. Each write carries the token of the lease
 * and changes nothing without it. The publisher and listeners are notified afterwards.
 */
import { Clock, Effect, Metric } from "effect"
import { countedFindings, listFacts, openFindings } from "../../src/domain/Analysis.ts"
import type { Analysis } from "../../src/domain/Analysis.ts"
import { categoryLabel } from "../../src/domain/CanonicalCategory.ts"
import type { Finding } from "../../src/domain/Problem.ts"
import type { TargetKey } from "../../src/domain/Keys.ts"
import { endStatus } from "../../src/domain/HeadVerdict.ts"
import { skippedReason } from "../../src/domain/SkippedReason.ts"
import type { StatusState } from "../../src/domain/Publication.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import type { RunStatus } from "../../src/domain/Run.ts"
import { runUrl } from "../../src/domain/RunLink.ts"
import type { CommentReaction } from "../../src/forge/Forge.ts"
import * as Metrics from "../../src/observability/Metrics.ts"
import { Progress } from "../../src/observability/Progress.ts"
import { Outputs } from "../../src/outputs/Outputs.ts"
import { planVerdict } from "../../src/outputs/PlannedVerdict.ts"
import { reactionRows } from "../../src/outputs/ReplyRows.ts"
import { statementRows } from "../../src/outputs/StatementRow.ts"
import { hasStatus } from "../../src/outputs/StatusEnd.ts"
import { summaryLink } from "../../src/outputs/ReviewLinks.ts"
import { Outbox } from "../../src/store/Outbox.ts"
import { withSettings } from "../../src/domain/RepositorySettings.ts"
import { Runs } from "../../src/store/Runs.ts"
import type { BegunRun, Run } from "../../src/store/Runs.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import { publishers } from "../publishing/ChangePublisher.ts"
import { logEnded } from "./RunLog.ts"
import { saveSpooled } from "./SaveAnalysis.ts"
import type { ReviewWork } from "./ReviewWork.ts"
import { eventOutcome, failed, reviewed, skipped } from "./RunOutcome.ts"
import { withDecisions } from "./ReadDecisions.ts"

export const reviewInProgress: Reason = { _tag: "ReviewInProgress" }

/** Wakes the publisher of a target. */
export const publish = Effect.fnUntraced(function* (targetKey: TargetKey) {
  yield* (yield* publishers)(targetKey).Publish(undefined, { discard: true })
})

/** Begins a run and sets a pending status on its head, in one transaction. Returns undefined if a worker with a newer token has the run. */
export const beginAnnounced = Effect.fnUntraced(function* (begun: BegunRun, work: ReviewWork) {
  const outbox = yield* Outbox
  const outputs = yield* Outputs
  const now = yield* Clock.currentTimeMillis
  const begin = (yield* Runs).begin(begun, work.lease.token, now)
  const announced = (run: Run | undefined) =>
    run === undefined || run.status === "publishing"
      ? Effect.void
      : outbox.add(outputs.status(publishInput(run, work), "pending", reviewInProgress), now)
  const run = yield* outbox.together(Effect.tap(begin, announced))
  if (run !== undefined) yield* publish(run.targetKey)
  return run
})

/** Sets a pending status on the head of the run. A status that cannot be written now does not fail the review. */
export const announce = (run: Run, work: ReviewWork) =>
  Effect.catch(addStatus(run, work, "pending", reviewInProgress), ({ message }) =>
    Effect.logWarning("pending status was not stored").pipe(Effect.annotateLogs({ run_id: run.id, error: message }))
  )

const addStatus = Effect.fnUntraced(function* (run: Run, work: ReviewWork, state: StatusState, description: Reason) {
  const rows = (yield* Outputs).status(publishInput(run, work), state, description)
  yield* (yield* Outbox).add(rows, yield* Clock.currentTimeMillis)
  yield* publish(run.targetKey)
})

const addEnd = (run: Run, work: ReviewWork, to: RunStatus, reason: Reason) => {
  const { description, state } = endStatus(to, reason)
  return addStatus(run, work, state, description)
}

/**
 * Stores the analysis, and the outcome of the deliveries of its entry. From here on it is published, and no further model call is made.
 */
export const completeRun = Effect.fnUntraced(function* (run: Run, given: ReviewWork, found: Analysis) {
  const work = { ...given, workspace: withSettings(given.workspace, found.settings) }
  const outputs = yield* Outputs
  const analysis = yield* withDecisions(run, work, found)
  const open = openFindings(analysis)
  const counted = countedFindings(analysis)
  const spent = (yield* Clock.currentTimeMillis) - (run.startedAt ?? run.createdAt)
  const input = { ...publishInput(run, work), seconds: Math.max(0, Math.round(spent / 1000)) }
  const plan = outputs.plan({ ...input, analysis })
  // The status comes last, so that a head that is marked as reviewed has its comments and its statement.
  const verdict = planVerdict(work.workspace, run.change, analysis, plan)
  const stated = statementRows({ ...input, analysis }, run, plan.length, yield* Clock.currentTimeMillis)
  const last = plan.length + stated.length
  const status = outputs
    .status(input, verdict.state, verdict.description, { analysis, plan })
    .map((row) => ({ ...row, position: last }))
  const recorded = hasStatus(run.change) ? verdict : undefined
  const runs = yield* Runs
  const receipts = yield* Receipts
  const { events } = work.entry
  const skipReason = skippedReason(analysis)
  const outcome = skipReason === undefined ? reviewed(run.id, events) : skipped(skipReason, run.id, events)
  const rows = [...plan, ...stated, ...status, ...endReaction(run, work, "thumbs_up", last + 1)]
  const complete = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const completing = runs.complete(run.id, work.lease.token, analysis, rows, now, recorded)
    const settling = receipts.settle(events, eventOutcome(outcome), now)
    const completed = Effect.tap(completing, (isStored) => (isStored ? settling : Effect.void))
    if (yield* (yield* Outbox).together(completed)) return true
    // The response to an earlier attempt may have been lost: then the analysis is stored.
    return (yield* runs.get(run.id))?.status === "publishing"
  })
  if (!(yield* saveSpooled(run, analysis, complete))) {
    return failed({ _tag: "LeaseLost" }, true)
  }
  for (const { problem } of counted) {
    const labels = { severity: problem.severity, category: categoryLabel(problem.category), team: run.team ?? "" }
    yield* Metric.update(Metric.withAttributes(Metrics.problems, labels), 1)
  }
  yield* countUnposted(analysis)
  yield* Metric.update(Metrics.leakedCredentials, listFacts(analysis).filter(isNewIn(analysis)).length)
  yield* countRules(analysis)
  yield* countFramed(analysis)
  yield* (yield* Progress).publish({
    _tag: "Analysed",
    workspace: run.workspace,
    targetKey: run.targetKey,
    runId: run.id,
    problems: counted.length,
    findings: open,
    models: analysis.models
  })
  yield* publish(run.targetKey)
  return outcome
})

const isNewIn =
  ({ round: current }: Analysis) =>
  ({ round }: Finding): boolean =>
    round === undefined || round.since === current?.number

/** Counts late findings, and those of folded kinds that no earlier review had. */
const countUnposted = Effect.fnUntraced(function* (analysis: Analysis) {
  const { findings, folded = [], late = [] } = analysis
  const isNew = isNewIn(analysis)
  const all = [
    [Metrics.lateProblems, "yes", findings.filter(({ round }) => round?.kind === "late")],
    [Metrics.lateProblems, "no", late],
    [Metrics.foldedProblems, "yes", findings.filter((finding) => finding.probe === true && isNew(finding))],
    [Metrics.foldedProblems, "no", folded.map(({ finding }) => finding).filter(isNew)]
  ] as const
  for (const [counter, published, counted] of all)
    for (const { problem } of counted)
      yield* Metric.update(Metric.withAttributes(counter, { severity: problem.severity, published }), 1)
})

const countFramed = Effect.fnUntraced(function* ({ notices }: Analysis) {
  for (const notice of notices)
    if (notice._tag === "FilesFramed")
      yield* Metric.update(Metrics.framedFiles, notice.paths.length + (notice.more ?? 0))
})

const countRules = Effect.fnUntraced(function* ({ rules = [] }: Analysis) {
  for (const { muted } of rules)
    yield* Metric.update(Metric.withAttributes(Metrics.appliedRules, { muted: muted === true ? "yes" : "no" }), 1)
})

/** Returns false if the lease was lost and another worker owns the run. */
export const failRun = Effect.fnUntraced(function* (
  run: Run,
  work: ReviewWork,
  status: "failed" | "timeout",
  reason: Reason
) {
  const now = yield* Clock.currentTimeMillis
  if (!(yield* (yield* Runs).move(run.id, work.lease.token, status, now, reason))) return false
  if (isAnnounced(run)) yield* addEnd(run, work, status, reason)
  const reaction = endReaction(run, work, "confused", 0)
  if (reaction.length > 0) {
    yield* (yield* Outbox).add(reaction, now)
    yield* publish(run.targetKey)
  }
  yield* finished(run, status, reason)
  return true
})

/** Plans the reaction to the comment that requested the review. */
const endReaction = (run: Run, work: ReviewWork, reaction: CommentReaction, position: number) =>
  work.request?.comment === undefined
    ? []
    : reactionRows({ ...publishInput(run, work), comment: work.request.comment }, reaction, position)

/** Ends a run without a review: there is nothing to review, or the head was reviewed before. */
export const skipRun = Effect.fnUntraced(function* (run: Run, work: ReviewWork, reason: Reason) {
  const now = yield* Clock.currentTimeMillis
  if (yield* (yield* Runs).move(run.id, work.lease.token, "skipped", now, reason)) {
    if (isAnnounced(run)) yield* addEnd(run, work, "skipped", reason)
    yield* finished(run, "skipped", reason)
  }
  return skipped(reason, run.id)
})

/** True if the head has a pending status. */
const isAnnounced = ({ startedAt, verdict }: Run): boolean => startedAt !== undefined || verdict !== undefined

const overAuthorLimit: Reason = { _tag: "AuthorOverLimit" }

/** Refuses a review because of its author's limit. Nothing is read, and the status of the commit shows the reason. */
export const refuseRun = Effect.fnUntraced(function* (run: Run, work: ReviewWork, reason: Reason) {
  const now = yield* Clock.currentTimeMillis
  const verdict = run.verdict && { ...run.verdict, state: "failure" as const, description: overAuthorLimit }
  if (yield* (yield* Runs).move(run.id, work.lease.token, "skipped", now, reason, verdict)) {
    yield* Effect.logWarning("review not started, its author has reached the hourly limit").pipe(
      Effect.annotateLogs({ run_id: run.id, reason })
    )
    yield* addStatus(run, work, "failure", overAuthorLimit)
    yield* finished(run, "skipped", reason)
  }
  return skipped(reason, run.id)
})

/** Cancels a run. A run whose analysis is stored is published all the same. */
export const cancelRun = Effect.fnUntraced(
  function* (run: Run, work: ReviewWork, reason: Reason) {
    const runs = yield* Runs
    const current = yield* runs.get(run.id)
    if (current === undefined) return
    const now = yield* Clock.currentTimeMillis
    if (!(yield* runs.move(run.id, work.lease.token, "cancelled", now, reason))) return
    if (isAnnounced(current)) yield* addEnd(current, work, "cancelled", reason)
    yield* finished(run, "cancelled", reason)
  },
  (effect, run) =>
    Effect.catch(effect, (error) =>
      Effect.logWarning("cancelled run not ended yet, housekeeping ends it", { run_id: run.id, error: error.message })
    )
)

const finished = Effect.fnUntraced(function* (run: Run, status: RunStatus, reason: Reason) {
  yield* logEnded(run, status, reason)
  yield* (yield* Progress).publish({
    _tag: "Finished",
    workspace: run.workspace,
    targetKey: run.targetKey,
    runId: run.id,
    status,
    reason
  })
})

const publishInput = (run: Run, { isRepeated, snapshot, workspace }: ReviewWork) => ({
  runId: run.id,
  targetKey: run.targetKey,
  change: run.change,
  head: run.head,
  workspace,
  isRepeated,
  runUrl: runUrl(snapshot.document.server, run.id),
  // The same at each attempt of the run.
  sharedUrl: summaryLink(snapshot, run.id, run.createdAt)
})
