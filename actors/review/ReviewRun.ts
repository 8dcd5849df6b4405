/**
 * Runs one review, from a claimed entry to stored findings: loads the configuration and the state at the host, analyses, stores the
 * analysis with its publications in one transaction, and wakes the publisher. Every write carries the token of the lease.
 *
 * A run whose analysis is stored is never analysed again: after a crash it continues with the publisher.
 */
import { Clock, Deferred, Effect } from "effect"
import { withRouteAnalysis } from "../../src/admission/RouteAnalysis.ts"
import { authorKey, haveSameBase, isChatRequester, toDecided } from "../../src/domain/Change.ts"
import type { Change } from "../../src/domain/Change.ts"
import type { Entry } from "../../src/domain/Entry.ts"
import { ReservationId } from "../../src/domain/Keys.ts"
import { pendingVerdict } from "../../src/domain/HeadVerdict.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import { ModelRun } from "../../src/llm/ModelRun.ts"
import { Progress } from "../../src/observability/Progress.ts"
import { Outputs } from "../../src/outputs/Outputs.ts"
import { setsStatus } from "../../src/outputs/StatusEnd.ts"
import { NewerHeads } from "../../src/queue/dispatch/NewerHeads.ts"
import type { Lease } from "../../src/queue/Queue.ts"
import { Ledger } from "../../src/store/Ledger.ts"
import { Runs } from "../../src/store/Runs.ts"
import type { Run } from "../../src/store/Runs.ts"
import type { StoreError } from "../../src/database/StoreError.ts"
import type { CiEvidence } from "../../src/engine/CiEvidence.ts"
import { analyseChange, toAnalyzing } from "./AnalyseChange.ts"
import { awaitCi, awaitsCi } from "./AwaitCi.ts"
import { loadReadable } from "./HostCredential.ts"
import { announce, beginAnnounced, completeRun, publish, refuseRun, reviewInProgress, skipRun } from "./EndRun.ts"
import { findRequest } from "./ReviewRequest.ts"
import { watchHead } from "./ReplacedHead.ts"
import { routedWork } from "./ReviewSubject.ts"
import type { Subject } from "./ReviewSubject.ts"
import { loadWork } from "./ReviewWork.ts"
import type { ReviewWork } from "./ReviewWork.ts"
import { failed, reviewed, skipped } from "./RunOutcome.ts"
import type { RunOutcome } from "./RunOutcome.ts"
import { findSpooled, removeSpooled } from "./SaveAnalysis.ts"
import { triageAnalysis } from "./TriageRun.ts"
import { endCancelled, endWithoutWork, openRun } from "./OpenRun.ts"
import { modelAccount } from "./RunAccount.ts"
import { analysisFailure, hostFailure, storeFailure } from "./RunFailure.ts"

/**
 * Reviews a claimed entry. Completing `cancelled` with a reason interrupts the review and everything it started. `beforeModels` runs when
 * the plan is made, before a model is used.
 */
export const reviewEntry = Effect.fnUntraced(function* (
  entry: Entry,
  lease: Lease,
  cancelled: Deferred.Deferred<Reason>,
  beforeModels: Effect.Effect<void>
) {
  const work = yield* loadWork(entry, lease)
  if ("_tag" in work) return yield* Effect.catchTag(endWithoutWork(entry, lease, work), "StoreError", storeFailure)
  // The result of triage is written to the issue itself, regardless of routes.
  const { kind } = entry.change.target
  // The results of a review that was requested from chat are also sent to the conversation.
  const isSentToChat = isChatRequester(entry.change.requestedBy)
  if (kind !== "issue" && !isSentToChat && !(yield* Outputs).anyFor(work.workspace, toDecided(entry.change))) {
    const reason = { _tag: "NoChannel", kind } as const
    const skip = Effect.flatMap(openRun(entry, lease), (run) =>
      run === undefined ? Effect.succeed(skipped(reason)) : skipRun(run, work, reason)
    )
    return yield* Effect.catchTag(skip, "StoreError", storeFailure)
  }
  return yield* Effect.catchTag(attempt({ ...work, beforeModels }, cancelled), "StoreError", storeFailure)
})

/** Opens the run, which is stored from here on and shows what it waits for, and reviews. */
const attempt = Effect.fnUntraced(function* (work: ReviewWork, cancelled: Deferred.Deferred<Reason>) {
  const opened = yield* openRun(work.entry, work.lease)
  if (opened === undefined) return failed({ _tag: "TakenOver" }, false)
  const cancel = Effect.map(Deferred.await(cancelled), (reason): RunOutcome => ({ _tag: "Cancelled", reason }))
  // Registered before the host is queried for the head, so that no notification is missed.
  const heads = yield* (yield* NewerHeads).listen(work.entry.targetKey)
  const reviewing = review(opened, work, { heads, cancelled }).pipe(
    Effect.onInterrupt(() => endCancelled(opened, work, cancelled))
  )
  return yield* Effect.raceFirst(reviewing, cancel).pipe(
    Effect.catchTag("ForgeError", (error) => hostFailure(opened, work, error)),
    Effect.annotateLogs({ run_id: opened.id })
  )
}, Effect.scoped)

/** Reasons to end a review early. */
interface Watch {
  readonly heads: Effect.Effect<string>
  readonly cancelled: Deferred.Deferred<Reason>
}

/** Loads the subject from the host, then skips the review, adopts a stored result, or runs it. */
const review = Effect.fnUntraced(function* (opened: Run, given: ReviewWork, watch: Watch) {
  const { work: admitted, subject } = yield* loadReadable(given)
  if (subject._tag === "Skip") return yield* skipRun(opened, admitted, subject.reason)
  if (subject._tag === "Later") {
    const { dueAt, priority, reason } = subject
    return { _tag: "Waiting", reason, until: dueAt, priority } as const satisfies RunOutcome
  }
  const routed = routedWork(admitted, subject)
  if ("_tag" in routed) return yield* skipRun(opened, admitted, routed)
  const { head, base } = subject
  const change = { ...subject.change, workspace: routed.workspace.id }
  const { entry, lease, snapshot } = routed
  const { targetKey, workspace } = entry

  const runs = yield* Runs
  const { earlier, pausedBy } = yield* runs.findReview(targetKey, head)
  if (earlier !== undefined && (earlier.id === opened.id || isSameReview(earlier, entry.id, change))) {
    if (earlier.id !== opened.id) yield* skipRun(opened, routed, { _tag: "HeadReviewed", run: earlier.id })
    yield* publish(targetKey)
    return reviewed(earlier.id)
  }
  if (pausedBy !== undefined && change.requestedBy === undefined)
    return yield* skipRun(opened, routed, { _tag: "ChangePaused", person: pausedBy })
  const work = {
    ...routed,
    workspace: withRouteAnalysis(routed.workspace, change),
    isRepeated: earlier !== undefined,
    request: yield* findRequest(entry, change.requestedBy)
  }
  // Recorded before the review begins: no publisher makes the head green from here on.
  const verdict = setsStatus(work.workspace, change) ? pendingVerdict(reviewInProgress) : undefined
  const { team } = work.workspace.instance
  const begun = {
    entryId: entry.id,
    workspace,
    team,
    targetKey,
    change,
    head,
    base,
    configHash: snapshot.hash,
    verdict
  }
  const over = yield* overAuthorLimit(work, change)
  // While CI is awaited, and without a review, the head gets no pending status.
  const isAnnounced = over === undefined && !awaitsCi(work)
  const run = yield* isAnnounced
    ? beginAnnounced(begun, work)
    : runs.begin(begun, lease.token, yield* Clock.currentTimeMillis)
  if (run === undefined) return failed({ _tag: "TakenOver" }, false)
  yield* Effect.annotateCurrentSpan({ run: run.id, head, event_id: entry.events.join(" ") })
  yield* Effect.logInfo("run started", { run_id: run.id, repository: change.repo.fullName, head })
  yield* (yield* Progress).publish({ _tag: "Started", workspace, targetKey, runId: run.id, head })
  if (over !== undefined) return yield* refuseRun(run, work, over)
  return yield* execute(run, subject, work, watch)
})

/** Returns the reason if the author of the change has reached the hourly limit. Other people's requests do not count. */
const overAuthorLimit = Effect.fnUntraced(function* (
  { entry, workspace }: ReviewWork,
  change: Change
): Effect.fn.Return<Reason | undefined, StoreError, Ledger> {
  const max = workspace.review.max_per_author_hour
  const author = authorKey(change)
  const isAuthors = change.requestedBy === undefined || change.requestedBy === change.author?.username
  if (max === 0 || author === undefined || !isAuthors) return undefined
  const now = yield* Clock.currentTimeMillis
  const hour = new Date(now).toISOString().slice(0, "2026-01-31T12".length)
  const counted = yield* (yield* Ledger).count(
    { id: ReservationId.make(`review:${entry.id}`), subject: `reviews:${author}`, period: hour, max },
    now
  )
  return counted ? undefined : { _tag: "AuthorLimit", author: change.author?.username ?? author, count: max }
})

/**
 * True if the target branch is the same and the review was not requested again after it was published. A process may end after its review was
 * published and before its entry ended.
 */
const isSameReview = (earlier: Run, entryId: string, change: Change): boolean =>
  haveSameBase(earlier.change, change) &&
  (earlier.status === "publishing" || earlier.entryId === entryId || change.requestedBy === undefined)

/** Analyses the change and saves the result. */
const execute = Effect.fnUntraced(
  function* (
    run: Run,
    subject: Exclude<Subject, { readonly _tag: "Skip" | "Later" }>,
    work: ReviewWork,
    { cancelled, heads }: Watch
  ) {
    const spooled = yield* findSpooled(run)
    if (spooled !== undefined) {
      const outcome = yield* completeRun(run, work, spooled)
      if (outcome._tag === "Reviewed") yield* removeSpooled(run)
      return outcome
    }
    const ci = subject._tag === "Review" ? yield* awaitCi(run, work) : undefined
    if (ci?._tag === "Waiting") return ci
    // The final status must come after the pending one.
    const announcing = awaitsCi(work) ? announce(run, work) : Effect.void
    const analysing = Effect.all([analysisOf(run, subject, work, ci?.evidence), announcing], {
      concurrency: "unbounded"
    }).pipe(Effect.provideService(ModelRun, yield* modelAccount(run, work)))
    const [analysis] = yield* Effect.raceFirst(analysing, watchHead(run, work, heads, cancelled))
    return yield* completeRun(run, work, analysis)
  },
  (effect, run, _, work) =>
    Effect.catchTag(effect, ["AgentError", "AnalysisError", "CheckoutError", "PatchTooLarge"], (error) =>
      analysisFailure(run, work, error)
    )
)

const analysisOf = Effect.fnUntraced(function* (
  run: Run,
  subject: Exclude<Subject, { readonly _tag: "Skip" | "Later" }>,
  work: ReviewWork,
  ci: CiEvidence | undefined
) {
  if (subject._tag === "Review") return yield* analyseChange(run, work, subject.defaultBranch, ci)
  yield* toAnalyzing(run, work.lease)
  yield* work.beforeModels ?? Effect.void
  return yield* triageAnalysis(work.snapshot, work.workspace, subject.issue)
}, Effect.scoped)
