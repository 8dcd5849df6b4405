/**
 * Searches the git host of a trigger for missed changes: pull requests of each owner that were updated since the last search, opened issues that
 * are triaged, changes that were ignored under another configuration, and tips of branches whose pushes are reviewed.
 */
import { Clock, Duration, Effect } from "effect"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import type { TriggerProfile, Workspace } from "../../src/config/Snapshot.ts"
import type { ForgeKind } from "../../src/domain/Kinds.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import type { ChangedPull, HostOwner } from "../../src/forge/Forge.ts"
import { ForgeError } from "../../src/forge/ForgeError.ts"
import { Forges } from "../../src/forge/Forges.ts"
import { CatchUps } from "../../src/store/CatchUps.ts"
import type { CatchUpMark } from "../../src/store/CatchUps.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import type { StoredEvent } from "../../src/store/Receipts.ts"
import { findFailed } from "./FindFailed.ts"
import { findIssues } from "./FindIssues.ts"
import { continueWithout, decidePull, isPassing, waitsLonger } from "./FindPulls.ts"
import { findPushes } from "./FindPushes.ts"
import { clockMillis, overlapMillis, pullKey, selectRecent } from "./HostSearch.ts"
import type { HostSearch } from "./HostSearch.ts"
import { listSources, scopeOfBranches, scopeOfDeliveries, scopeOfIssues, scopeOfOwner } from "./Sources.ts"
import { isWatched } from "../../src/admission/Admit.ts"
import { pullRequestDue } from "../../src/admission/Windows.ts"
import { isIgnoredLabel } from "../../src/admission/IgnoredLabel.ts"
import { toSourceFacts } from "../../src/admission/Select.ts"

/**
 * Decides again about pull requests that were ignored for a reason, or that wait for a window, which does not hold under the configuration in
 * force.
 */

/** Ignored deliveries that are read, and as many that wait. */
const maxDecisions = 1000

/** Returns whether the workspace would ignore it for the same reason, if it has not changed. */
const isStillIgnored = ({ review }: Pick<Workspace, "review">, { facts, reason, rule }: StoredEvent): boolean => {
  switch (reason) {
    case "draft":
      return review.skip_drafts
    case "label_ignored":
      return rule?._tag !== "LabelListed" || isIgnoredLabel(review, String(rule.label))
    case "target_branch_not_watched":
      return !isWatched(review.pull_request.include_target_branches, facts.branch)
    default:
      return false
  }
}

/** Reads the records once for each configuration: what changed at the host itself is found by its update. */
const findIgnored = Effect.fnUntraced(function* (search: HostSearch) {
  const { kind, limits, memory, now, snapshot, trigger } = search
  if (memory.configHash === snapshot.hash) return
  const since = now - Duration.toMillis(Duration.hours(limits.max_age_hours))
  const { list } = yield* Receipts
  const read = (decision: "deferred" | "ignored") =>
    list({ trigger: trigger.name, decision, since, limit: maxDecisions })
  const events = [...(yield* read("ignored")), ...(yield* read("deferred"))]
  const again = new Map<string, { readonly repo: { readonly fullName: string }; readonly number: number }>()
  for (const event of events) {
    const { decision, facts, reason, repo } = event
    if (repo === undefined || facts.number === undefined || (decision === "ignored" && !isPassing(reason))) continue
    const workspaces = snapshot.route(trigger.name, toSourceFacts(kind, { fullName: repo }, facts.branch))
    const isOver = ({ review }: Workspace) =>
      decision === "deferred"
        ? waitsLonger(event, pullRequestDue(review, now), now)
        : !isStillIgnored({ review }, event)
    if (!workspaces.some((workspace) => workspace.enabled && isOver(workspace))) continue
    const candidate = { repo: { fullName: repo }, number: facts.number }
    again.set(pullKey(candidate), candidate)
  }
  for (const candidate of again.values())
    yield* decidePull(search, { ...candidate, updatedAt: undefined }, { first: 0, since: now }).pipe(
      continueWithout(search, { repository: candidate.repo.fullName, number: candidate.number })
    )
  memory.unrouted.clear()
  memory.configHash = snapshot.hash
})

/** Pull requests that are read of one list. */
const maxListed = 2000
/** Remembered updates of pull requests. */
const maxRemembered = 20_000

/** Returns the changes that are decided about, oldest first, so that a search that stops is continued. The others are counted. */
const select = (search: HostSearch, pulls: ReadonlyArray<ChangedPull>): ReadonlyArray<ChangedPull> => {
  const { updates } = search.memory
  return selectRecent(
    search,
    pulls.filter((pull) => updates.get(pullKey(pull)) !== pull.updatedAt)
  )
}

const remember = ({ updates }: HostSearch["memory"], pull: ChangedPull): void => {
  updates.delete(pullKey(pull))
  updates.set(pullKey(pull), pull.updatedAt)
  for (const key of updates.keys()) {
    if (updates.size <= maxRemembered) return
    updates.delete(key)
  }
}

const searchOwner = Effect.fnUntraced(function* (search: HostSearch, owner: HostOwner, known: CatchUpMark | undefined) {
  const { client, now, tally, trigger } = search
  const catchUps = yield* CatchUps
  const scope = scopeOfOwner(owner.name)
  const advance = (mark: number) => catchUps.mark({ trigger: trigger.name, scope, mark })
  if (known === undefined) {
    const { pulls } = yield* client.changes.pulls(owner, undefined, 1)
    return yield* advance(pulls[0]?.updatedAt ?? now - clockMillis)
  }
  const since = known.mark - overlapMillis
  const { more, pulls } = yield* client.changes.pulls(owner, since, maxListed)
  tally.skipped += more
  /** The first change that the host failed to return: the mark stays before it. */
  let failed: { readonly error: ForgeError; readonly at: number } | undefined
  let reached = known.mark
  const save = () => (reached > known.mark ? advance(reached) : Effect.void)
  for (const pull of select(search, pulls)) {
    const place = { repository: pull.repo.fullName, number: pull.number }
    const deciding = decidePull(search, pull, { first: known.first, since }).pipe(continueWithout(search, place))
    const error = yield* Effect.tapError(ofOneRequest(deciding), save)
    if (error === undefined) remember(search.memory, pull)
    else failed ??= { error, at: pull.updatedAt }
    if (failed === undefined) reached = Math.max(reached, pull.updatedAt)
  }
  if (failed === undefined) reached = Math.max(reached, ...pulls.map(({ updatedAt }) => updatedAt))
  yield* save()
  if (failed !== undefined) return yield* failed.error
})

/** Returns the error if the host failed one request and responds to others: other changes are decided about. */
const ofOneRequest = <E extends { readonly _tag: string }, R>(deciding: Effect.Effect<void, E | ForgeError, R>) =>
  deciding.pipe(
    Effect.as<ForgeError | undefined>(undefined),
    Effect.catchIf(
      (error): error is ForgeError =>
        error instanceof ForgeError && error.reason === "unavailable" && error.isOutage !== true,
      Effect.succeed
    )
  )

/** Continues after a failure of the host, and returns the first one. */
const each = <A, E extends { readonly _tag: string; readonly why: Reason }, R>(
  items: Iterable<A>,
  step: (item: A) => Effect.Effect<void, E, R>
) =>
  Effect.gen(function* () {
    let failure: Reason | undefined
    for (const item of items) {
      const result = yield* Effect.result(step(item))
      if (result._tag === "Success") continue
      if (result.failure._tag !== "ForgeError") return yield* Effect.fail(result.failure)
      failure ??= result.failure.why
    }
    return failure
  })

export const searchHost = Effect.fnUntraced(function* (
  trigger: TriggerProfile,
  kind: ForgeKind,
  due: Pick<HostSearch, "memory" | "occasion" | "tally">
) {
  const { memory, occasion, tally } = due
  const snapshot = (yield* ConfigStore).current()
  const client = (yield* Forges).client(trigger)
  const limits = trigger.settings.catch_up
  const now = yield* Clock.currentTimeMillis
  const search: HostSearch = {
    trigger,
    kind,
    snapshot,
    client,
    memory,
    occasion,
    now,
    limits,
    tally,
    room: new Map()
  }
  const marks = new Map((yield* (yield* CatchUps).marks(trigger.name)).map((mark) => [mark.scope, mark]))
  const { branches, owners } = listSources(snapshot, trigger, yield* (yield* Receipts).sources(trigger.name), marks)
  const failures = [
    yield* each(owners, (owner) => searchOwner(search, owner, marks.get(scopeOfOwner(owner.name)))),
    yield* each(owners, (owner) => findIssues(search, owner, marks.get(scopeOfIssues(owner.name)))),
    yield* each([search], findIgnored),
    yield* each(branches, ([repo, names]) => findPushes(search, repo, names, marks.get(scopeOfBranches(repo)))),
    yield* each([marks.get(scopeOfDeliveries)], (known) => findFailed(search, known))
  ]
  return failures.find((failure) => failure !== undefined)
})
