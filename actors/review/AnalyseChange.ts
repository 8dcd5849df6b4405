/** Runs a review from the host to its analysis: loads lessons and the previous review, checks the head out and calls the engine. */
import { Clock, Effect } from "effect"
import type { PassProgress } from "../../src/agent/Agent.ts"
import type { TriggerProfile, Workspace } from "../../src/config/Snapshot.ts"
import { decidedKey, hostTrigger, repositoryKey } from "../../src/domain/Change.ts"
import { cloneUrl } from "../../src/domain/HostUrls.ts"
import { isForgeKind, isMergeable } from "../../src/domain/Kinds.ts"
import type { ForgeKind } from "../../src/domain/Kinds.ts"
import type { CiEvidence } from "../../src/engine/CiEvidence.ts"
import { reviewOnRecord } from "../../src/engine/ReviewOnRecord.ts"
import type { Forge } from "../../src/forge/Forge.ts"
import { Forges } from "../../src/forge/Forges.ts"
import { rulesRevision } from "../../src/forge/RulesRevision.ts"
import { Outputs } from "../../src/outputs/Outputs.ts"
import { Progress } from "../../src/observability/Progress.ts"
import type { ProgressNews } from "../../src/observability/Progress.ts"
import type { Lease } from "../../src/queue/Queue.ts"
import { ProjectRules } from "../../src/store/ProjectRules.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import { Runs } from "../../src/store/Runs.ts"
import type { Run } from "../../src/store/Runs.ts"
import { CheckoutError, Vcs } from "../../src/vcs/Checkout.ts"
import type { CheckoutRequest, GitCheckoutRequest } from "../../src/vcs/Checkout.ts"
import { toTriggerServer } from "../../src/vcs/ConfiguredServer.ts"
import { whileUnavailable } from "./SaveAnalysis.ts"
import { readEarlierRounds } from "./EarlierRounds.ts"
import { fileFilters } from "./FileFilters.ts"
import { findOutsider, maxPushers } from "./Outsider.ts"
import { readLinkedIssues } from "./ReadLinkedIssues.ts"
import { readPrevious } from "./PreviousAnalysis.ts"
import { readAcceptance } from "./ReadAcceptance.ts"
import { lessonsFor } from "./Reflect.ts"
import { isLastAttempt } from "./ReviewWork.ts"
import type { ReviewWork } from "./ReviewWork.ts"
import { gitTransport } from "../../src/vcs/GitTransport.ts"

/** Records that the run is being analysed. The analysis does not depend on it, because the records may be unavailable. */
export const toAnalyzing = Effect.fnUntraced(
  function* (run: Run, lease: Lease) {
    yield* (yield* Runs).move(run.id, lease.token, "analyzing", yield* Clock.currentTimeMillis)
  },
  Effect.retry({ schedule: whileUnavailable, while: ({ reason }) => reason === "unavailable" }),
  Effect.catch(({ message }) =>
    Effect.logWarning("start of the analysis was not recorded").pipe(Effect.annotateLogs({ error: message }))
  ),
  (effect) => Effect.forkScoped(effect)
)

/** Checks the run's head out and reviews it. */
export const analyseChange = Effect.fnUntraced(function* (
  run: Run,
  work: ReviewWork,
  defaultBranch: string | undefined,
  ci: CiEvidence | undefined
) {
  const { lease, snapshot, workspace } = work
  const { change } = run
  const progress = yield* Progress
  const runs = yield* Runs
  const vcs = yield* Vcs
  const latest = yield* Effect.cached(runs.latestAnalysis(decidedKey(change)))
  const [previous, codes, acceptance, { issues, lessons, outsider, request }] = yield* Effect.all(
    [
      latest,
      Effect.flatMap(latest, (earlier) => readIssueCode(run, workspace, earlier)),
      readAcceptance(run, workspace),
      isForgeKind(work.profile.kind)
        ? readAtHost(run, work, work.profile.kind, defaultBranch)
        : readWithoutHost(run, work)
    ],
    { concurrency: "unbounded" }
  )
  const earlier = yield* readPrevious(run, previous, snapshot)
  const checkout = yield* vcs.checkout(request).pipe(Effect.withSpan("checkout"))
  yield* progress.publish({
    _tag: "CheckedOut",
    workspace: run.workspace,
    targetKey: run.targetKey,
    runId: run.id,
    from: checkout.from
  })
  const reviewing = reviewOnRecord(
    run.id,
    {
      snapshot,
      workspace,
      checkout,
      title: change.title,
      description: change.description,
      issues,
      focus: work.request?.focus,
      lessons,
      ruleHealth: yield* readRuleHealth(run),
      acceptance,
      ci,
      issueCode: { codes, files: checkout, isWhole: isMergeable(change.target.kind) },
      isLastAttempt: isLastAttempt(work),
      beforeModels: work.beforeModels,
      progress: (step) =>
        step._tag === "Working" ? progress.publish(workingNews(run, step.pass, step.progress)) : Effect.void,
      previous: earlier.analysis,
      round: yield* readEarlierRounds(run, previous, lessons),
      filters: fileFilters(snapshot, change)
    },
    outsider
  )
  yield* toAnalyzing(run, lease)
  return { ...(yield* reviewing), ...earlier.members }
}, Effect.scoped)

/**
 * Reads the code of open managed issues, of which the review of a merge group resolves none. The first review of a pull request has none on
 * record: if the records were lost, its next review reads them. A failure delays only their resolution.
 */
const readIssueCode = Effect.fnUntraced(function* (run: Run, workspace: Workspace, previous: Run | undefined) {
  const { kind } = run.change.target
  if (kind === "merge_group" || (kind === "pull_request" && previous === undefined)) return []
  return yield* (yield* Outputs)
    .issueCode(workspace, run.change)
    .pipe(
      Effect.catch(({ message }) =>
        Effect.as(
          Effect.logWarning("managed issues not read, this review resolves none of them", { error: message }),
          []
        )
      )
    )
})

/** Returns the reading of the health of rules. A failure mutes none. */
const readRuleHealth = Effect.fnUntraced(function* ({ change }: Run) {
  const repository = repositoryKey(change)
  return (yield* ProjectRules)
    .health({ repository })
    .pipe(
      Effect.catch(({ message }) =>
        Effect.as(Effect.logWarning("health of rules unavailable, none is muted", { repository, error: message }), [])
      )
    )
})

/** Reads who pushed to the head of a pull request, which deliveries name. */
export const readHeadPushers = ({ change, head }: CheckedOut) => {
  const { repo, target } = change
  const pull = { trigger: hostTrigger(change), repo: repo.fullName, number: target.number ?? 0, head }
  return Receipts.use((receipts) => receipts.pushers(pull, maxPushers))
}

/** Reads the lessons, issues, rules and credentials of a change at its host. */
const readAtHost = Effect.fnUntraced(function* (
  run: Run,
  work: ReviewWork,
  kind: ForgeKind,
  defaultBranch: string | undefined
) {
  const { workspace, profile } = work
  const { change } = run
  const { baseUrl } = profile
  if (baseUrl === undefined) return yield* noHost(profile)
  const forges = yield* Forges
  const client = forges.client(profile)
  const [authorization, lessons, rules, outsider, issues] = yield* Effect.all(
    [
      client.gitAuthorization(change.repo),
      lessonsFor(run, workspace, client),
      rulesRevision(change, client, defaultBranch),
      findOutsider(change, workspace, client, readHeadPushers(run)),
      readLinkedIssues(change, client)
    ],
    { concurrency: "unbounded" }
  )
  const request: CheckoutRequest = resolveCheckout(run, work, forges.of(kind), {
    url: cloneUrl(baseUrl, change.repo),
    authorization,
    rules
  })
  return { issues, lessons, outsider, request }
})

/** Returns the checkout of a change whose repository is on the server of its version control system. */
export const resolveOnServer = Effect.fnUntraced(function* (
  run: CheckedOut,
  { profile, snapshot, workspace }: Pick<ReviewWork, "profile" | "snapshot" | "workspace">
) {
  const server = toTriggerServer(profile, snapshot)
  if (server === undefined || "_tag" in server) {
    return yield* new CheckoutError({
      reason: "failed",
      why: server ?? { _tag: "NoRepositories", trigger: profile.name, kind: profile.kind }
    })
  }
  return {
    vcs: server.vcs,
    server,
    branch: run.change.headRef ?? "",
    head: run.head,
    base: run.base ?? "0",
    headOnly: workspace.review.commit_strategy === "head_only"
  } satisfies CheckoutRequest
})

/** Submitted changes have no host: their authors have write access, and there are no pull requests and issues. */
const readWithoutHost = Effect.fnUntraced(function* (run: Run, work: ReviewWork) {
  const request: CheckoutRequest = yield* resolveOnServer(run, work)
  return { issues: [], lessons: yield* lessonsFor(run, work.workspace, undefined), outsider: undefined, request }
})

const workingNews = (
  { id, targetKey, workspace }: Run,
  pass: number,
  { mode, problems, toolCalls, usage }: PassProgress
): ProgressNews => ({
  _tag: "Working",
  workspace,
  targetKey,
  runId: id,
  pass,
  agent: mode,
  toolCalls,
  problems,
  inputTokens: usage.inputTokens,
  outputTokens: usage.outputTokens,
  ...(usage.costUsd === undefined ? {} : { costUsd: usage.costUsd })
})

/** A revision to check out, with the one that it is compared with. */
type CheckedOut = Pick<Run, "base" | "change" | "head">

/** Fails instead of using a clone URL from the payload: its author could choose where the service connects to. */
export const noHost = ({ name }: TriggerProfile) =>
  new CheckoutError({
    reason: "failed",
    why: { _tag: "NothingToClone", trigger: name }
  })

export const resolveCheckout = (
  run: CheckedOut,
  { workspace, profile }: Pick<ReviewWork, "profile" | "workspace">,
  forge: Forge | undefined,
  host: Pick<GitCheckoutRequest, "url" | "authorization" | "rules">
): GitCheckoutRequest => {
  const { change } = run
  const { number } = change.target
  return {
    mirror: `${hostTrigger(change)}/${change.repo.fullName}`,
    ...host,
    head: run.head,
    base: run.base ?? run.head,
    headRef:
      number === undefined || change.target.kind === "merge_group"
        ? change.headRef && `refs/heads/${change.headRef}`
        : forge?.pullRef(number),
    baseRef: change.baseRef,
    // A branch is compared from its merge base. Two commits are compared directly, which also works after history was rewritten.
    compare: isMergeable(change.target.kind) || change.baseRef !== undefined ? "merge-base" : "endpoints",
    headOnly: workspace.review.commit_strategy === "head_only",
    ...gitTransport(profile)
  }
}
