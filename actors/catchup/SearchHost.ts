/**
 * Searches the git host of a trigger for missed changes: pull requests of each owner that were updated since the last search, changes that were
 * ignored under another configuration, and tips of branches whose pushes are reviewed.
 */
import { Clock, Duration, Effect } from "effect"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import type { TriggerProfile } from "../../src/config/Snapshot.ts"
import { toSourceFacts } from "../../src/admission/Select.ts"
import { foldRepo } from "../../src/domain/Change.ts"
import type { ForgeKind } from "../../src/domain/Kinds.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import type { ChangedPull, HostOwner } from "../../src/forge/Forge.ts"
import { ForgeError } from "../../src/forge/ForgeError.ts"
import { Forges } from "../../src/forge/Forges.ts"
import { CatchUps } from "../../src/store/CatchUps.ts"
import type { CatchUpMark } from "../../src/store/CatchUps.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import { decidePull, isPassing } from "./FindPulls.ts"
import { findPushes } from "./FindPushes.ts"
import type { HostSearch, SearchMemory } from "./HostSearch.ts"
import { listSources, scopeOfBranches, scopeOfOwner } from "./Sources.ts"

/** Hosts add changes to their lists late and out of order: what was updated in this time before the last one is listed again. */
const overlapMillis = Duration.toMillis("10 minutes")
/** Assumed difference of clocks, for a first search that finds no time of the host. */
const clockMillis = Duration.toMillis("70 minutes")
/** Pull requests that are read of one list. */
const maxListed = 2000
/** Remembered updates of pull requests. */
const maxRemembered = 20_000

const updateKey = ({ number, repo }: Pick<ChangedPull, "number" | "repo">): string =>
  `${foldRepo(repo.fullName)}#${number}`

/** Returns the changes that are decided about, oldest first, so that a search that stops is continued. The others are counted. */
const select = (search: HostSearch, pulls: ReadonlyArray<ChangedPull>): ReadonlyArray<ChangedPull> => {
  const { limits, memory, now, tally } = search
  const oldest = now - Duration.toMillis(Duration.hours(limits.max_age_hours))
  const counts = new Map<string, number>()
  const selected: Array<ChangedPull> = []
  for (const pull of pulls) {
    if (memory.updates.get(updateKey(pull)) === pull.updatedAt) continue
    const repo = foldRepo(pull.repo.fullName)
    const count = (counts.get(repo) ?? 0) + 1
    counts.set(repo, count)
    if (pull.updatedAt < oldest || count > limits.max_changes) tally.skipped += 1
    else selected.push(pull)
  }
  return selected.toReversed()
}

const remember = ({ updates }: SearchMemory, pull: ChangedPull): void => {
  updates.delete(updateKey(pull))
  updates.set(updateKey(pull), pull.updatedAt)
  for (const key of updates.keys()) {
    if (updates.size <= maxRemembered) return
    updates.delete(key)
  }
}

/** Failures that concern one change: the others are decided about. */
const ofOne: ReadonlySet<string> = new Set(["forbidden", "not_found", "conflict", "invalid"])

/** Counts a change that the host does not disclose, and continues. */
const leaveOut =
  ({ tally, trigger }: HostSearch, { number, repo }: Pick<ChangedPull, "number" | "repo">) =>
  <A, E extends { readonly _tag: string }, R>(decided: Effect.Effect<A, E | ForgeError, R>) =>
    Effect.catchIf(
      decided,
      (error): error is ForgeError => error instanceof ForgeError && ofOne.has(error.reason),
      ({ why }) => {
        tally.skipped += 1
        return Effect.logWarning("change not read, the search for missed changes continues without it", {
          trigger: trigger.name,
          repository: repo.fullName,
          number,
          reason: why
        })
      }
    )

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
  let reached = known.mark
  for (const pull of select(search, pulls)) {
    yield* decidePull(search, pull, { first: known.first, since }).pipe(
      leaveOut(search, pull),
      Effect.tapError(() => (reached > known.mark ? advance(reached) : Effect.void))
    )
    remember(search.memory, pull)
    reached = Math.max(reached, pull.updatedAt)
  }
  const newest = Math.max(known.mark, ...pulls.map(({ updatedAt }) => updatedAt))
  if (newest > known.mark) yield* advance(newest)
})

const maxIgnored = 1000

/** Decides again about pull requests that were ignored for a reason that another configuration may have changed. */
const decideIgnored = Effect.fnUntraced(function* (search: HostSearch) {
  const { kind, limits, memory, now, snapshot, trigger } = search
  if (memory.configHash === snapshot.hash) return
  const since = now - Duration.toMillis(Duration.hours(limits.max_age_hours))
  const filter = { trigger: trigger.name, decision: "ignored", since, limit: maxIgnored } as const
  const again = new Map<string, { readonly repo: { readonly fullName: string }; readonly number: number }>()
  for (const { facts, reason, repo } of yield* (yield* Receipts).list(filter)) {
    if (repo === undefined || facts.number === undefined || !isPassing(reason)) continue
    const enabled = snapshot.route(trigger.name, toSourceFacts(kind, { fullName: repo }, facts.branch))
    if (!enabled.some((workspace) => workspace.enabled)) continue
    const candidate = { repo: { fullName: repo }, number: facts.number }
    again.set(updateKey(candidate), candidate)
  }
  for (const candidate of again.values())
    yield* decidePull(search, { ...candidate, createdAt: undefined }, { first: 0, since: now }).pipe(
      leaveOut(search, candidate)
    )
  memory.configHash = snapshot.hash
})

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
  memory: SearchMemory,
  tally: HostSearch["tally"]
) {
  const snapshot = (yield* ConfigStore).current()
  const client = (yield* Forges).client(trigger)
  const limits = trigger.settings.catch_up
  const now = yield* Clock.currentTimeMillis
  const search: HostSearch = { trigger, kind, snapshot, client, memory, now, limits, tally, room: new Map() }
  const marks = new Map((yield* (yield* CatchUps).marks(trigger.name)).map((mark) => [mark.scope, mark]))
  const { branches, owners } = listSources(snapshot, trigger, yield* (yield* Receipts).sources(trigger.name), marks)
  const failures = [
    yield* each(owners, (owner) => searchOwner(search, owner, marks.get(scopeOfOwner(owner.name)))),
    yield* each([search], decideIgnored),
    yield* each(branches, ([repo, names]) => findPushes(search, repo, names, marks.get(scopeOfBranches(repo))))
  ]
  return failures.find((failure) => failure !== undefined)
})
