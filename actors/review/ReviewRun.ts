/**
 * Runs one review, from a claimed entry to stored findings: loads the configuration and the state at the host, analyses, stores the
 * analysis with its publications in one transaction, and wakes the publisher. Every write carries the token of the lease.
 *
 * A run whose analysis is stored is never analysed again: after a crash it continues with the publisher.
 */
import { Clock, Deferred, Effect, Option, Random } from "effect"
import { withRouteAnalysis } from "../../src/admission/RouteAnalysis.ts"
import { waitsForProvider } from "../../src/agent/Agent.ts"
import type { AgentError } from "../../src/agent/Agent.ts"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import { authorKey, haveSameBase, isChatRequester, repositoryKey } from "../../src/domain/Change.ts"
import type { Change } from "../../src/domain/Change.ts"
import type { Entry } from "../../src/domain/Entry.ts"
import { ReservationId } from "../../src/domain/Keys.ts"
import type { ForgeError } from "../../src/forge/ForgeError.ts"
import { pendingVerdict } from "../../src/domain/HeadVerdict.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import { ModelRun } from "../../src/llm/ModelRun.ts"
import type { ModelAccount } from "../../src/llm/ModelRun.ts"
import { Progress } from "../../src/observability/Progress.ts"
import { Outputs } from "../../src/outputs/Outputs.ts"
import { setsStatus } from "../../src/outputs/StatusEnd.ts"
import { queuedTimeoutHours } from "../../src/queue/ExpiryCutoffs.ts"
import { outageLimit, retryDuringOutage } from "../../src/queue/HostOutage.ts"
import { NewerHeads } from "../../src/queue/dispatch/NewerHeads.ts"
import type { Lease } from "../../src/queue/Queue.ts"
import { Ledger } from "../../src/store/Ledger.ts"
import { Runs } from "../../src/store/Runs.ts"
import type { Run } from "../../src/store/Runs.ts"
import type { StoreError } from "../../src/database/StoreError.ts"
import type { AnalysisError } from "../../src/engine/AnalysisError.ts"
import type { CiEvidence } from "../../src/engine/CiEvidence.ts"
import type { CheckoutError } from "../../src/vcs/Checkout.ts"
import { analyseChange, toAnalyzing } from "./AnalyseChange.ts"
import { awaitCi } from "./AwaitCi.ts"
import { noteLostCredential } from "../publishing/CredentialNotice.ts"
import { loadFenceKey } from "./FenceKey.ts"
import { loadReadable, waitsForCredential } from "./HostCredential.ts"
import { announce, cancelRun, completeRun, failRun, publish, refuseRun, reviewInProgress, skipRun } from "./EndRun.ts"
import { watchHead } from "./ReplacedHead.ts"
import { routedWork } from "./ReviewSubject.ts"
import type { Subject } from "./ReviewSubject.ts"
import { isLastAttempt, loadWork } from "./ReviewWork.ts"
import type { MissingWork, ReviewWork } from "./ReviewWork.ts"
import { failed, reviewed, skipped } from "./RunOutcome.ts"
import type { RunOutcome } from "./RunOutcome.ts"
import { findSpooled, removeSpooled } from "./SaveAnalysis.ts"
import { triageAnalysis } from "./TriageRun.ts"

/** Newest runs of a target that are searched for lost attempts. */
const earlierAttempts = 5

/** Reviews a claimed entry. Completing `cancelled` with a reason interrupts the review and everything it started. */
export const reviewEntry = Effect.fnUntraced(function* (
  entry: Entry,
  lease: Lease,
  cancelled: Deferred.Deferred<Reason>
) {
  const work = yield* loadWork(entry, lease)
  if ("_tag" in work) return yield* Effect.catchTag(endWithoutWork(entry, lease, work), "StoreError", storeFailure)
  // The result of triage is written to the issue itself, regardless of routes.
  const { kind } = entry.change.target
  // The results of a review that was requested from chat are also sent to the conversation.
  const isSentToChat = isChatRequester(entry.change.requestedBy)
  if (kind !== "issue" && !isSentToChat && !(yield* Outputs).anyFor(work.workspace, entry.change)) {
    const reason = { _tag: "NoChannel", kind } as const
    const skip = Effect.flatMap(openRun(entry, lease), (run) =>
      run === undefined ? Effect.succeed(skipped(reason)) : skipRun(run, work, reason)
    )
    return yield* Effect.catchTag(skip, "StoreError", storeFailure)
  }
  return yield* Effect.catchTag(attempt(work, cancelled), "StoreError", storeFailure)
})

/** Time for which an entry whose configuration is missing on this node is left to other nodes, or to a restored archive. */
const unknownConfigurationMillis = 24 * 3_600_000
const unknownConfigurationPause = 15_000

/**
 * Fails the run because its workspace or trigger is no longer in the configuration. If that is not the configuration under which the entry
 * was admitted, the entry is left to other nodes, which may have it, for a day.
 */
const endWithoutWork = Effect.fnUntraced(function* (entry: Entry, lease: Lease, { isPinned, reason }: MissingWork) {
  const now = yield* Clock.currentTimeMillis
  if (!isPinned && now - entry.admittedAt < unknownConfigurationMillis) {
    const until = now + Math.round(unknownConfigurationPause * (0.5 + (yield* Random.next)))
    return { _tag: "Waiting", reason: { _tag: "UnconfiguredHere", reason }, until } as const satisfies RunOutcome
  }
  const run = yield* openRun(entry, lease)
  if (run === undefined) return failed(reason, false)
  yield* (yield* Runs).move(run.id, lease.token, "failed", yield* Clock.currentTimeMillis, reason)
  return failed(reason, false, undefined, run.id)
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

const openRun = Effect.fnUntraced(function* (entry: Entry, lease: Lease) {
  const { id: entryId, change, targetKey, workspace } = entry
  const snapshot = yield* (yield* ConfigStore).pinned(entry.configHash)
  const { base, head = "" } = change
  const begun = { entryId, workspace, targetKey, change, head, base, configHash: snapshot.hash }
  return yield* (yield* Runs).open(begun, lease.token, yield* Clock.currentTimeMillis)
})

/** Loads the subject from the host, then skips the review, adopts a stored result, or runs it. */
const review = Effect.fnUntraced(function* (opened: Run, given: ReviewWork, watch: Watch) {
  const { work: admitted, subject } = yield* loadReadable(given)
  if (subject._tag === "Skip") return yield* skipRun(opened, admitted, subject.reason)
  if (subject._tag === "Later") {
    const { reason, until } = subject
    return { _tag: "Waiting", reason, until } as const satisfies RunOutcome
  }
  const routed = routedWork(admitted, subject)
  if ("_tag" in routed) return yield* skipRun(opened, admitted, routed)
  const { head, base } = subject
  const change = { ...subject.change, workspace: routed.workspace.id }
  const { entry, lease, snapshot } = routed
  const { targetKey, workspace } = entry

  const runs = yield* Runs
  const earlier = yield* runs.find(targetKey, head, ["publishing", "succeeded"])
  if (earlier !== undefined && (earlier.id === opened.id || isSameReview(earlier, change))) {
    if (earlier.id !== opened.id) yield* skipRun(opened, routed, { _tag: "HeadReviewed", run: earlier.id })
    yield* publish(targetKey)
    return reviewed(earlier.id)
  }
  const work = {
    ...routed,
    workspace: withRouteAnalysis(routed.workspace, change),
    isRepeated: earlier !== undefined
  }
  // Recorded before the review begins: no publisher makes the head green from here on.
  const verdict = setsStatus(work.workspace, change) ? pendingVerdict(reviewInProgress) : undefined
  const begun = { entryId: entry.id, workspace, targetKey, change, head, base, configHash: snapshot.hash, verdict }
  const run = yield* runs.begin(begun, lease.token, yield* Clock.currentTimeMillis)
  if (run === undefined) return failed({ _tag: "TakenOver" }, false)
  yield* Effect.annotateCurrentSpan({ run: run.id, head, event_id: entry.events.join(" ") })
  yield* Effect.logInfo("run started", { run_id: run.id, repository: change.repo.fullName, head })
  yield* (yield* Progress).publish({ _tag: "Started", workspace, targetKey, runId: run.id, head })
  const over = yield* overAuthorLimit(work, change)
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
  const counted = yield* (yield* Ledger).countReview(
    { id: ReservationId.make(`review:${entry.id}`), author, hour, max },
    now
  )
  return counted ? undefined : { _tag: "AuthorLimit", author: change.author?.username ?? author, count: max }
})

/** True if the target branch is the same and the review was not requested again after it was published. */
const isSameReview = (earlier: Run, change: Change): boolean =>
  haveSameBase(earlier.change, change) && (earlier.status === "publishing" || change.requestedBy === undefined)

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
    const analysing = Effect.all([analysisOf(run, subject, work, ci?.evidence), announce(run, work)], {
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

/**
 * Returns the account of model calls that this run continues. Earlier attempts that were lost are the run itself, runs of an entry that a
 * restart replaced, and runs of a head that a force push replaced; their calls are not paid for again.
 */
const modelAccount = Effect.fnUntraced(function* (run: Run, { lease }: ReviewWork) {
  const { change, head, configHash, id, targetKey } = run
  const others = yield* (yield* Runs).list({ targetKey, limit: earlierAttempts })
  const isAutomatic = change.requestedBy === undefined
  const lost = others.filter(
    (other) =>
      other.id !== id &&
      other.configHash === configHash &&
      (isReplaced(other) || (isAutomatic && other.head === head && isLost(other)))
  )
  const earlier = [...(lease.token > 1 ? [id] : []), ...lost.map((other) => other.id)]
  return {
    id,
    repository: repositoryKey(change),
    author: authorKey(change),
    fenceKey: yield* loadFenceKey(id),
    ...(earlier.length === 0 ? {} : { resumes: { attempt: lease.token, earlier } })
  } satisfies ModelAccount
})

const isReplaced = ({ reason, status }: Run): boolean => status === "cancelled" && reason?._tag === "HeadReplaced"

const isLost = ({ analysis, reason, status }: Run): boolean =>
  analysis === undefined &&
  (status === "preparing" || status === "analyzing" || (status === "failed" && reason?._tag === "ProcessLost"))

const analysisOf = Effect.fnUntraced(function* (
  run: Run,
  subject: Exclude<Subject, { readonly _tag: "Skip" | "Later" }>,
  work: ReviewWork,
  ci: CiEvidence | undefined
) {
  if (subject._tag === "Review") return yield* analyseChange(run, work, ci)
  yield* toAnalyzing(run, work.lease)
  return yield* triageAnalysis(work.snapshot, work.workspace, subject.issue)
}, Effect.scoped)

const analysisFailure = Effect.fnUntraced(function* (
  run: Run,
  work: ReviewWork,
  error: AgentError | AnalysisError | CheckoutError | { readonly _tag: "PatchTooLarge"; readonly why: Reason }
) {
  const now = yield* Clock.currentTimeMillis
  const runs = yield* Runs
  const stored = Effect.map(runs.get(run.id), (found) => found ?? run)
  if (error._tag === "AgentError" && waitsForProvider(error)) {
    const notBefore = error.retryAfterMillis && now + error.retryAfterMillis
    const tag = error.reason === "throttled" ? "ProviderRefuses" : "ProviderUnreachable"
    return yield* waitForServer(yield* stored, work, { _tag: tag, reason: error.why }, notBefore)
  }
  const reason = error.why
  const retryable = error._tag !== "PatchTooLarge" && passing.has(error.reason)
  const timedOut = error._tag === "AgentError" && error.reason === "timeout"
  if (error._tag === "CheckoutError") {
    const current = yield* stored
    const outage = outageOf(error, current, now)
    if (outage !== undefined) return yield* waitForServer(current, work, { _tag: outage, reason }, undefined)
  }
  const wait = error._tag === "AgentError" ? error.retryAfterMillis : undefined
  const last = !retryable || isLastAttempt(work)
  if (last) yield* failRun(run, work, timedOut ? "timeout" : "failed", reason)
  return failed(reason, retryable, wait === undefined ? undefined : now + wait, run.id)
})

/** Failures that may not occur in another attempt. */
const passing: ReadonlySet<string> = new Set(["retryable", "crashed"])

/** Time for which a pull request waits for a commit that its host names and git does not have: hosts copy those of forks later. */
const lateCommitMillis = 120_000

/** Returns what a checkout waits for, if its failure lasts for a while and ends, or does not occur on another node. */
const outageOf = ({ reason }: CheckoutError, { change, waitingSince }: Run, now: number) => {
  if (reason === "disk") return "DiskUnwritable"
  const isLate =
    reason === "absent" && change.target.kind === "pull_request" && now - (waitingSince ?? now) < lateCommitMillis
  return isLate || reason === "unreachable" ? "RepositoryUnavailable" : undefined
}

const hostFailure = Effect.fnUntraced(function* (opened: Run, work: ReviewWork, error: ForgeError) {
  const passes = error.reason === "rate_limited" || error.reason === "unavailable" || error.reason === "unknown_outcome"
  const now = yield* Clock.currentTimeMillis
  const run = (yield* (yield* Runs).get(opened.id)) ?? opened
  const reason = { _tag: "HostRequestFailed", reason: error.why } as const
  if (passes) return yield* waitForServer(run, work, reason, error.retryAfterMillis && now + error.retryAfterMillis)
  if (yield* waitsForCredential(work, error)) {
    const trigger = work.profile.name
    yield* noteLostCredential(trigger, error.why)
    return yield* waitForServer(run, work, { _tag: "AwaitsCredential", trigger, why: error.why }, undefined)
  }
  yield* failRun(run, work, "failed", reason)
  return failed(reason, false, undefined, run.id)
})

/**
 * Defers the review during an outage of the host, its credential, the model provider or the disk. This costs no attempt, and the record
 * shows the reason and the time.
 */
const waitForServer = Effect.fnUntraced(function* (
  run: Run,
  work: ReviewWork,
  reason: Reason,
  notBefore: number | undefined
) {
  const now = yield* Clock.currentTimeMillis
  const since = run.waitingSince ?? now
  const limit = outageLimit(work.entry.expires, queuedTimeoutHours(work.snapshot, work.entry.workspace))
  const until = retryDuringOutage({ since, now, limit, notBefore, random: yield* Random.next })
  if (until === undefined) {
    const hours = Math.round(limit / 3_600_000)
    const ended: Reason =
      reason._tag === "AwaitsCredential"
        ? { ...reason, _tag: "CredentialNotRestored", hours }
        : { _tag: "GivenUp", reason, hours }
    yield* failRun(run, work, "failed", ended)
    return failed(ended, false, undefined, run.id)
  }
  yield* (yield* Runs).wait(run.id, work.lease.token, { since, until, reason })
  yield* Effect.logWarning("review waits for a server", {
    since: new Date(since).toISOString(),
    retry_at: new Date(until).toISOString(),
    reason,
    entry_id: work.entry.id
  })
  return { _tag: "Waiting", reason, until } as const satisfies RunOutcome
})

/** Milliseconds between attempts while the records are unavailable. */
const recordsPause = 10_000

const storeFailure = Effect.fnUntraced(function* ({ reason, why }: StoreError) {
  if (reason !== "unavailable") return failed(why, false)
  const until = (yield* Clock.currentTimeMillis) + Math.round(recordsPause * (0.5 + (yield* Random.next)))
  const outage = { _tag: "RecordsUnavailable", reason: why } as const
  return { _tag: "Waiting", reason: outage, until } as const satisfies RunOutcome
})

/** Ends the run if it was cancelled. Interrupted for another reason, it continues in a later attempt. */
const endCancelled = Effect.fnUntraced(function* (run: Run, work: ReviewWork, cancelled: Deferred.Deferred<Reason>) {
  const reason = yield* Deferred.poll(cancelled)
  if (Option.isSome(reason)) yield* cancelRun(run, work, yield* reason.value)
})
