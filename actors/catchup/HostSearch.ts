/** Holds the state of a search of a git host: what it has found, and how much work it may still add. */
import { Duration, Effect, Schema } from "effect"
import { admit } from "../../src/admission/Admit.ts"
import type { Snapshot, TriggerProfile } from "../../src/config/Snapshot.ts"
import type { CatchUpOccasion } from "../../src/domain/CatchUpOccasion.ts"
import { foldRepo, targetKey } from "../../src/domain/Change.ts"
import type { Change, Repo } from "../../src/domain/Change.ts"
import type { EventFacts, HostEvent } from "../../src/domain/HostEvent.ts"
import type { DeliveryKey, TargetKey } from "../../src/domain/Keys.ts"
import type { ForgeKind } from "../../src/domain/Kinds.ts"
import { Reason } from "../../src/domain/Reason.ts"
import type { ForgeClient, HostPull } from "../../src/forge/Forge.ts"
import type { ForgeError } from "../../src/forge/ForgeError.ts"
import { OwnAccounts } from "../../src/forge/OwnAccounts.ts"
import { fillableBy, FoundEvents } from "../../src/queue/FoundEvents.ts"
import { Queue } from "../../src/queue/Queue.ts"

/** Hosts add changes to their lists late and out of order: what was updated in this time before the last one is listed again. */
export const overlapMillis = Duration.toMillis("10 minutes")
/** Assumed difference of clocks, for a first search that finds no time of the host. */
export const clockMillis = Duration.toMillis("70 minutes")

/** The search ends; the next one continues where it stopped. */
class SearchStopped extends Schema.TaggedError<SearchStopped>()("SearchStopped", { why: Reason }) {}

/** Remembers what earlier searches of this process have read. */
export class SearchMemory {
  /** Time of the last update that was decided about, by pull request. */
  readonly updates = new Map<string, number>()
  /** GUIDs of deliveries that the host was requested to repeat, and repositories of deliveries that no workspace has. */
  readonly repeated = new Set<string>()
  readonly unrouted = new Set<number>()
  /** Configuration under which ignored changes were decided about again. */
  configHash: string | undefined
  /** Number of incomplete searches since the last complete one. */
  failures = 0
}

export interface HostSearch {
  readonly trigger: TriggerProfile
  readonly kind: ForgeKind
  readonly snapshot: Snapshot
  readonly client: ForgeClient
  readonly memory: SearchMemory
  readonly occasion: CatchUpOccasion
  /** Start of the search, in milliseconds since the epoch. */
  readonly now: number
  readonly limits: TriggerProfile["settings"]["catch_up"]
  readonly tally: { found: number; skipped: number }
  /** Number of entries that each workspace, and the queue as a whole (`""`), may still get. */
  readonly room: Map<string, number>
}

/** Times of the host, in milliseconds since the epoch. */
export interface SeenUntil {
  /** Time of the first search: older changes start nothing. */
  readonly first: number
  /** Older changes were read by earlier searches. */
  readonly since: number
}

/** Returns when the service set a final status on the head of a pull request; undefined: it has none. */
export type ReviewedAt = Effect.Effect<number | undefined, ForgeError>

/** Returns the key of a pull request within a trigger. */
export const pullKey = ({ number, repo }: { readonly number: number; readonly repo: Pick<Repo, "fullName"> }): string =>
  `${foldRepo(repo.fullName)}#${number}`

const readRoom = Effect.fnUntraced(function* ({ room, snapshot }: HostSearch, workspace: string) {
  const queue = yield* Queue
  const { per_workspace, total } = snapshot.document.queue.limits
  if (!room.has("")) {
    const { byStatus } = yield* queue.stats
    room.set("", fillableBy(total) - byStatus.waiting - byStatus.ready)
  }
  if (!room.has(workspace)) {
    const entries = yield* queue.load(workspace)
    room.set(workspace, fillableBy(per_workspace) - entries.length)
  }
  return Math.min(room.get("") ?? 0, room.get(workspace) ?? 0)
})

const take = (room: Map<string, number>, key: string): void => {
  room.set(key, (room.get(key) ?? 0) - 1)
}

/** Ends the search if the workspace may get no entry. */
export const requireRoom = Effect.fnUntraced(function* (search: HostSearch, workspace: string) {
  if ((yield* readRoom(search, workspace)) <= 0)
    return yield* new SearchStopped({ why: { _tag: "QueueKeptForDeliveries", workspace } })
})

/** Counts a change that adds an entry to the workspace. */
export const countFound = ({ room, tally }: HostSearch, workspace: string): void => {
  tally.found += 1
  take(room, "")
  take(room, workspace)
}

/** Returns items of a list, the latest first, that are not too old and not too many of a repository, oldest first. The others are counted. */
export const selectRecent = <A extends { readonly repo: Pick<Repo, "fullName">; readonly updatedAt: number }>(
  { limits, now, tally }: HostSearch,
  items: ReadonlyArray<A>
): ReadonlyArray<A> => {
  const oldest = now - Duration.toMillis(Duration.hours(limits.max_age_hours))
  const counts = new Map<string, number>()
  const selected: Array<A> = []
  for (const item of items) {
    const repo = foldRepo(item.repo.fullName)
    const count = (counts.get(repo) ?? 0) + 1
    counts.set(repo, count)
    if (item.updatedAt < oldest || count > limits.max_changes) tally.skipped += 1
    else selected.push(item)
  }
  return selected.toReversed()
}

/** Facts of an event that no delivery reported. Who caused it is unknown, unless its change names a person. */
export const foundFacts = (
  { kind, occasion }: HostSearch,
  { head, repo, target }: Pick<Change, "head" | "repo" | "target">,
  more: {
    readonly branch?: string | undefined
    readonly author?: string | undefined
    readonly title?: string | undefined
  }
): EventFacts => ({
  provider: kind,
  event: "catch_up",
  action: occasion,
  repo,
  sender: undefined,
  subject: {
    kind: target.kind === "push" || target.kind === "issue" ? target.kind : "pull_request",
    number: target.number,
    head,
    branch: more.branch,
    author: more.author,
    pusher: undefined,
    title: more.title
  }
})

/** Facts of an event about a pull request. */
export const pullFacts = (
  search: HostSearch,
  {
    author,
    baseRef,
    head,
    number,
    repo,
    title
  }: Pick<HostPull, "author" | "baseRef" | "number" | "repo" | "title"> & Pick<Change, "head">
): EventFacts =>
  foundFacts(
    search,
    { head, repo, target: { kind: "pull_request", number } },
    { branch: baseRef, author: author?.username, title }
  )

/** Returns the key of a target of the trigger. */
export const keyOfTarget = ({ trigger }: HostSearch, { repo, target }: Pick<Change, "repo" | "target">): TargetKey =>
  targetKey({ trigger: trigger.name, workspace: "", repo, target })

/** Returns the decision about an event, which `decideFound` makes again when it stores it. */
export const admitFound = ({ now, snapshot, trigger }: HostSearch, event: HostEvent) =>
  Effect.map(OwnAccounts, ({ of }) => admit({ snapshot, verified: [trigger], event, ownAccount: of, now }))

/** Decides about an event as about a delivery. `workspace`: where its work would wait; undefined if it starts none. */
export const decideFound = Effect.fnUntraced(function* (
  search: HostSearch,
  event: HostEvent,
  key: DeliveryKey,
  workspace: string | undefined
) {
  if (workspace !== undefined) yield* requireRoom(search, workspace)
  const decision = yield* (yield* FoundEvents).decide({ trigger: search.trigger, event, key })
  if (decision._tag === "Refused") return yield* new SearchStopped({ why: { _tag: "FoundChangesNotStored" } })
  if (decision._tag !== "Accepted" || workspace === undefined) return
  countFound(search, workspace)
  yield* Effect.logInfo("change found without a delivery", {
    event_id: decision.eventId,
    trigger: search.trigger.name,
    repository: "repo" in event ? event.repo?.fullName : undefined,
    number: event.subject.number,
    head: event.subject.head,
    branch: event.subject.branch,
    workspace
  })
})
