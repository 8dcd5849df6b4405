/**
 * One review, from a claimed entry to stored findings: ask the host what stands, check out, analyse, store the analysis with
 * its publications in one transaction, wake the publisher. Everything it writes carries the lease's token.
 *
 * A run that was stored is never analysed again: taken up after a crash it goes straight to the publisher.
 */
import { Clock, Deferred, Effect, Metric, Option, Redacted } from "effect"
import { ConfigStore } from "../src/config/ConfigStore.ts"
import type { Snapshot, TriggerProfile, Workspace } from "../src/config/Snapshot.ts"
import { hostTrigger, isAdministrator } from "../src/domain/Change.ts"
import type { Change } from "../src/domain/Change.ts"
import type { Entry } from "../src/domain/Entry.ts"
import { isForgeKind } from "../src/domain/Kinds.ts"
import { reviewOnRecord } from "../src/engine/ReviewOnRecord.ts"
import type { TriageIssue } from "../src/engine/Triage.ts"
import { changeOf } from "../src/forge/Forge.ts"
import type { ForgeClient } from "../src/forge/Forge.ts"
import { Forges } from "../src/forge/Forges.ts"
import { ModelRun } from "../src/llm/ModelRun.ts"
import * as Metrics from "../src/observability/Metrics.ts"
import { Progress } from "../src/observability/Progress.ts"
import { Outputs } from "../src/outputs/Outputs.ts"
import type { Lease } from "../src/queue/Queue.ts"
import { Outbox } from "../src/store/Outbox.ts"
import { Runs } from "../src/store/Runs.ts"
import type { Run } from "../src/store/Runs.ts"
import { Vcs } from "../src/vcs/Checkout.ts"
import { ChangePublisher } from "./ChangePublisher.ts"
import { lessonsFor, repositoryKey } from "./Reflect.ts"
import { rangeOf } from "./ReviewRange.ts"
import { issueOf, triageAnalysis } from "./TriageRun.ts"

/** How a review ended, as a value. */
export type RunOutcome =
  | { readonly _tag: "Reviewed"; readonly runId: string }
  | { readonly _tag: "Skipped"; readonly runId?: string | undefined; readonly reason: string }
  | {
      readonly _tag: "Failed"
      readonly runId: string | undefined
      readonly reason: string
      readonly retryable: boolean
      readonly notBefore?: number | undefined
    }
  | { readonly _tag: "Cancelled"; readonly reason: string }
  | { readonly _tag: "HandedBack" }

/** What the host says is to be reviewed now, or why nothing is. */
type Subject =
  | { readonly _tag: "Review"; readonly change: Change; readonly head: string; readonly base: string }
  | {
      readonly _tag: "Triage"
      readonly change: Change
      readonly head: string
      readonly base: undefined
      readonly issue: TriageIssue
    }
  | { readonly _tag: "Skip"; readonly reason: string }

/** `cancelled` is completed with the reason when the review is no longer wanted: it is ended then, with all it started. */
export const reviewEntry = Effect.fnUntraced(function* (
  entry: Entry,
  lease: Lease,
  cancelled: Deferred.Deferred<string>
) {
  const snapshot = (yield* ConfigStore).pinned(entry.configHash)
  const workspace = snapshot.workspaces.get(entry.workspace)
  const profile = snapshot.triggers.get(hostTrigger(entry.change))
  if (workspace === undefined || profile === undefined) {
    const missing = workspace === undefined ? `workspace ${entry.workspace}` : `trigger ${hostTrigger(entry.change)}`
    return failed(`${missing} is no longer configured`, false)
  }
  // What follows from triage goes to the issue itself, whatever is routed elsewhere.
  if (entry.change.target.kind !== "issue" && !(yield* Outputs).anyFor(workspace, entry.change)) {
    return skipped(`no channel publishes reviews of a ${entry.change.target.kind} here; see outputs.routes`)
  }
  const work = reviewWith(entry, lease, snapshot, workspace, profile, cancelled)
  const cancel = Effect.map(Deferred.await(cancelled), (reason): RunOutcome => ({ _tag: "Cancelled", reason }))
  return yield* Effect.raceFirst(work, cancel).pipe(
    Effect.catchTags({
      ForgeError: (error) =>
        Effect.map(Clock.currentTimeMillis, (now) =>
          failed(
            `the host could not be asked: ${error.message}`,
            error.reason === "rate_limited" || error.reason === "unavailable" || error.reason === "unknown_outcome",
            error.retryAfterMillis === undefined ? undefined : now + error.retryAfterMillis
          )
        ),
      StoreError: (error) => Effect.succeed(failed(error.message, error.reason === "unavailable"))
    })
  )
})

const reviewWith = Effect.fnUntraced(function* (
  entry: Entry,
  lease: Lease,
  snapshot: Snapshot,
  workspace: Workspace,
  profile: TriggerProfile,
  cancelled: Deferred.Deferred<string>
) {
  const runs = yield* Runs
  const outbox = yield* Outbox
  const outputs = yield* Outputs
  const progress = yield* Progress
  const forges = yield* Forges
  const publisherOf = yield* ChangePublisher.client
  const { targetKey } = entry
  const publish = publisherOf(targetKey).Publish(undefined, { discard: true })

  const subject = yield* subjectOf(entry, snapshot, workspace, forges.client(profile))
  if (subject._tag === "Skip") return skipped(subject.reason)
  const { change, head, base } = subject

  const earlier = yield* runs.find(targetKey, head, ["publishing", "succeeded"])
  if (earlier !== undefined && (change.requestedBy === undefined || earlier.status === "publishing")) {
    yield* publish
    return reviewed(earlier.id)
  }

  const begun = {
    entryId: entry.id,
    workspace: entry.workspace,
    targetKey,
    change,
    head,
    base,
    configHash: snapshot.hash
  }
  const run = yield* runs.begin(begun, lease.token, yield* Clock.currentTimeMillis)
  if (run === undefined) return failed("another worker has taken this run over", false)
  yield* Effect.annotateCurrentSpan({ run: run.id, head })
  yield* progress.tell({ _tag: "Started", workspace: entry.workspace, targetKey, runId: run.id, head })

  const input = { runId: run.id, targetKey, change, head, workspace, runUrl: runUrl(snapshot, run.id) }
  const announce = Effect.flatMap(Clock.currentTimeMillis, (now) =>
    outbox.add(outputs.status(input, "pending", "Review in progress"), now)
  ).pipe(Effect.andThen(publish))

  /** The run ends here when it is cancelled; interrupted for any other reason it is taken up again. */
  const endCancelled = Effect.gen(function* () {
    const told = yield* Deferred.poll(cancelled)
    if (Option.isNone(told)) return
    const reason = yield* told.value
    const now = yield* Clock.currentTimeMillis
    const { status = "publishing" } = (yield* runs.get(run.id)) ?? {}
    // An analysis that is stored is published.
    if (status === "publishing" || !(yield* runs.move(run.id, lease.token, "cancelled", now, reason))) return
    yield* outbox.add(outputs.status(input, "failure", "The review was cancelled"), now)
    yield* publish
    yield* progress.tell({
      _tag: "Finished",
      workspace: entry.workspace,
      targetKey,
      runId: run.id,
      status: "cancelled",
      reason
    })
  }).pipe(
    Effect.catch((error) =>
      Effect.logWarning(`The cancelled run ${run.id} could not be ended now, housekeeping will: ${error.message}`)
    )
  )

  const spender = { id: run.id, repository: repositoryKey(change) }
  const analysing =
    subject._tag === "Review"
      ? analyse(run, lease, snapshot, workspace, profile)
      : Effect.andThen(toAnalyzing(run, lease), triageAnalysis(snapshot, workspace, subject.issue))
  // What says that it is done comes after what says that it goes on.
  return yield* Effect.all([analysing, announce], { concurrency: "unbounded" }).pipe(
    Effect.annotateLogs({ run: run.id }),
    Effect.provideService(ModelRun, spender),
    Effect.flatMap(([analysis]) =>
      Effect.gen(function* () {
        const plan = outputs.plan({ ...input, analysis })
        // Last: a head that says it is reviewed has its comments.
        const status = outputs
          .status(input, "success", describe(analysis.findings.length, analysis.skipped))
          .map((row) => ({ ...row, position: plan.length }))
        const now = yield* Clock.currentTimeMillis
        if (!(yield* runs.complete(run.id, lease.token, analysis, [...plan, ...status], now))) {
          return failed("the lease was lost before the analysis could be stored", true)
        }
        for (const { problem } of analysis.findings) {
          yield* Metric.update(Metric.withAttributes(Metrics.problems, { severity: problem.severity }), 1)
        }
        yield* progress.tell({
          _tag: "Analysed",
          workspace: entry.workspace,
          targetKey,
          runId: run.id,
          findings: analysis.findings,
          models: analysis.models
        })
        yield* publish
        return reviewed(run.id)
      })
    ),
    Effect.catchTag(["AgentError", "CheckoutError", "PatchTooLarge"], (error) =>
      Effect.gen(function* () {
        const retryable =
          error._tag !== "PatchTooLarge" && (error.reason === "retryable" || error.reason === "unreachable")
        const timedOut = error._tag === "AgentError" && error.reason === "timeout"
        const now = yield* Clock.currentTimeMillis
        const asked = error._tag === "AgentError" ? error.retryAfterMillis : undefined
        const outcome = failed(error.message, retryable, asked === undefined ? undefined : now + asked, run.id)
        yield* Effect.logWarning(`Review of ${targetKey} at ${head} failed: ${error.message}`)
        const last = !retryable || entry.attempts + 1 >= snapshot.document.queue.retry.attempts
        // Who lost the lease while it was frozen says nothing: the run is another worker's.
        if (last && (yield* runs.move(run.id, lease.token, timedOut ? "timeout" : "failed", now, error.message))) {
          yield* outbox.add(outputs.status(input, "failure", "The review failed"), now)
          yield* publish
          yield* progress.tell({
            _tag: "Finished",
            workspace: entry.workspace,
            targetKey,
            runId: run.id,
            status: timedOut ? "timeout" : "failed",
            reason: error.message
          })
        }
        return outcome
      })
    ),
    Effect.onInterrupt(() => endCancelled)
  )
})

const subjectOf = Effect.fnUntraced(function* (
  entry: Entry,
  snapshot: Snapshot,
  workspace: Workspace,
  client: ForgeClient
) {
  const { change } = entry
  const { kind, number } = change.target
  if (kind === "issue") {
    const found = yield* issueOf(change, workspace, client)
    if (typeof found === "string") return skip(found)
    const { issue, head } = found
    const { title } = issue
    return {
      _tag: "Triage",
      change: { ...change, title, head },
      head,
      base: undefined,
      issue
    } as const satisfies Subject
  }
  if (kind !== "pull_request" || number === undefined) {
    const range = yield* rangeOf(entry, snapshot, client)
    if (typeof range === "string") return skip(range)
    return { _tag: "Review", ...range, change: { ...change, ...range } } as const satisfies Subject
  }
  const person = change.requestedBy
  if (person !== undefined && !isAdministrator(person) && !(yield* client.canWrite(change.repo, person))) {
    yield* Effect.logWarning(`Audit: ${person} asked for a review of ${entry.targetKey} without write permission`)
    return skip(`${person} has no write permission on the repository`)
  }
  const pull = yield* client.pull(change.repo, number)
  if (pull.state !== "open") return skip(`the pull request is ${pull.state}`)
  if (pull.draft && workspace.review.skip_drafts && change.requestedBy === undefined)
    return skip("the pull request is a draft")
  const ignored = pull.labels.find((label) => workspace.review.labels.ignore.includes(label))
  if (ignored !== undefined) return skip(`the pull request has the label ${ignored}`)
  const { head, base } = pull
  return { _tag: "Review", head, base, change: { ...change, ...changeOf(pull) } } as const satisfies Subject
})

const toAnalyzing = Effect.fnUntraced(function* (run: Run, lease: Lease) {
  yield* (yield* Runs).move(run.id, lease.token, "analyzing", yield* Clock.currentTimeMillis)
})

const analyse = Effect.fnUntraced(function* (
  run: Run,
  lease: Lease,
  snapshot: Snapshot,
  workspace: Workspace,
  profile: TriggerProfile
) {
  const { change } = run
  const forges = yield* Forges
  const forge = isForgeKind(profile.kind) ? forges.of(profile.kind) : undefined
  const progress = yield* Progress
  const runs = yield* Runs
  const vcs = yield* Vcs
  const { number } = change.target
  const client = forges.client(profile)
  const [previous, authorization, lessons] = yield* Effect.all(
    [runs.latestAnalysis(run.targetKey), client.gitAuthorization(change.repo), lessonsFor(run, workspace, client)],
    { concurrency: "unbounded" }
  )
  const checkout = yield* vcs.checkout({
    url: cloneUrl(profile, change),
    mirror: `${hostTrigger(change)}/${change.repo.fullName}`,
    authorization,
    head: run.head,
    base: run.base ?? run.head,
    headRef: number === undefined ? change.headRef && `refs/heads/${change.headRef}` : forge?.pullRef(number),
    baseRef: change.baseRef === undefined ? undefined : `refs/heads/${change.baseRef}`,
    // What a branch adds to another one; from commit to commit what lies between, also when history was rewritten.
    compare: change.target.kind === "pull_request" || change.baseRef !== undefined ? "merge-base" : "endpoints",
    headOnly: workspace.review.commit_strategy === "head_only",
    tlsCaPath: profile.settings.tls_ca_path,
    proxy: profile.settings.http_proxy === undefined ? undefined : Redacted.make(profile.settings.http_proxy)
  })
  yield* progress.tell({
    _tag: "CheckedOut",
    workspace: run.workspace,
    targetKey: run.targetKey,
    runId: run.id,
    from: checkout.from
  })
  const reviewing = reviewOnRecord(run.id, {
    snapshot,
    workspace,
    checkout,
    title: change.title,
    description: change.description,
    lessons,
    previous: previous !== undefined && carriesOver(previous, run) ? previous.analysis : undefined,
    filters: {
      watchPath: profile.settings.watch_path ?? [],
      include: profile.settings.include_cr_file ?? [],
      exclude: profile.settings.exclude_cr_file ?? []
    }
  })
  const [analysis] = yield* Effect.all([reviewing, toAnalyzing(run, lease)], { concurrency: "unbounded" })
  return analysis
}, Effect.scoped)

/**
 * An earlier review says something about this one where both compare with the same thing. Who asks for a head to be reviewed
 * that was reviewed before wants it read again.
 */
const carriesOver = (previous: Run, run: Run): boolean =>
  (run.change.target.kind === "pull_request" || previous.base === run.base) &&
  (run.change.requestedBy === undefined || previous.head !== run.head)

/** Where the trigger's host serves the repository. A URL out of a payload never gets to see our credentials. */
const cloneUrl = ({ baseUrl }: TriggerProfile, { repo }: Change): string =>
  baseUrl === undefined
    ? (repo.cloneUrl ?? "")
    : `${baseUrl}/${repo.fullName.split("/").map(encodeURIComponent).join("/")}.git`

const describe = (findings: number, skippedBecause: string | undefined): string =>
  skippedBecause !== undefined
    ? "Nothing to review"
    : findings === 0
      ? "No problems found"
      : findings === 1
        ? "1 problem found"
        : `${findings} problems found`

const runUrl = (snapshot: Snapshot, runId: string): string | undefined => {
  const { base_url, path_prefix } = snapshot.document.server
  return base_url === undefined
    ? undefined
    : `${base_url.replace(/\/$/, "")}${path_prefix ?? ""}/dashboard/runs/${runId}`
}

const skip = (reason: string) => ({ _tag: "Skip", reason }) as const satisfies Subject
const skipped = (reason: string): RunOutcome => ({ _tag: "Skipped", reason })
const reviewed = (runId: string): RunOutcome => ({ _tag: "Reviewed", runId })
const failed = (reason: string, retryable: boolean, notBefore?: number, runId?: string): RunOutcome => ({
  _tag: "Failed",
  runId,
  reason,
  retryable,
  notBefore
})
