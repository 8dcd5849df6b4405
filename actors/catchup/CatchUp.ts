/**
 * Finds changes whose deliveries never arrived, one in the cluster: hosts do not repeat a delivery that failed. The host or server of each
 * trigger is searched on request (when a node begins to receive deliveries, after refused ones, by an operator) and at regular times. A change that is
 * found goes through the same admission as a delivery, with a key of its own, so that a search may be repeated at any step.
 */
import { Clock, Duration, Effect, Metric } from "effect"
import { Singleton } from "effect/cluster"
import { isSearched } from "../../src/admission/IsSearched.ts"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import type { TriggerProfile } from "../../src/config/Snapshot.ts"
import type { CatchUpOccasion } from "../../src/domain/CatchUpOccasion.ts"
import { backoffMillis, doubling } from "../../src/domain/Backoff.ts"
import { isForgeKind } from "../../src/domain/Kinds.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import { limitWarning, logFailure } from "../../src/observability/LimitedWarnings.ts"
import { catchUpFound, catchUps, catchUpSkipped } from "../../src/observability/Metrics.ts"
import { CatchUps } from "../../src/store/CatchUps.ts"
import type { CatchUp } from "../../src/store/CatchUps.ts"
import { countStart } from "../ActorStarts.ts"
import type { ShardGroup } from "../Placement.ts"
import { searchShelves } from "../depots/EndedShelves.ts"
import { searchDepot } from "../depots/MissedReports.ts"
import { SearchMemory } from "./HostSearch.ts"
import { searchHost } from "./SearchHost.ts"

/** Interval in which requests and due beats are noticed. */
const scanInterval = Duration.seconds(10)
/** Time before the first scan, in which a node that starts begins to receive deliveries and requests its search. */
const startDelay = Duration.seconds(1)
/** Time from an incomplete search to the next one, by the number of those before it. */
const retry = doubling(Duration.toMillis("1 minute"), Duration.toMillis("5 minutes"))
/** Shortest time between two searches for a trigger, and before one for refused deliveries, which a sender may repeat without limit. */
const minPauseMillis = Duration.toMillis("10 seconds")
const refusedPauseMillis = Duration.toMillis("1 minute")

/** Returns why a search for a trigger is due; undefined if none is. A clock that was set back delays none. */
export const dueOccasion = (
  { catch_up: { every_seconds } }: Pick<TriggerProfile["settings"], "catch_up">,
  state: CatchUp | undefined,
  now: number,
  failures: number
): CatchUpOccasion | undefined => {
  const since = state?.searchedAt === undefined ? Number.POSITIVE_INFINITY : Math.abs(now - state.searchedAt)
  if (since < minPauseMillis) return undefined
  const requested = state?.requestedFor
  if (requested !== undefined && (requested !== "refused" || since >= refusedPauseMillis)) return requested
  if (state?.failure !== undefined && since >= backoffMillis(retry, Math.max(failures, 1), 0))
    return state.occasion ?? "beat"
  return every_seconds > 0 && since >= every_seconds * 1000 ? "beat" : undefined
}

/** State of each trigger in this process. */
class Searches {
  readonly running = new Set<string>()
  readonly #memories = new Map<string, SearchMemory>()

  memoryOf(trigger: string): SearchMemory {
    const memory = this.#memories.get(trigger) ?? new SearchMemory()
    this.#memories.set(trigger, memory)
    return memory
  }
}

const count = (
  trigger: string,
  counter: typeof catchUps,
  by: number,
  attributes: Readonly<Record<string, string>> = {}
) => Metric.update(Metric.withAttributes(counter, { trigger, ...attributes }), by)

const toWhy = ({ why }: { readonly why: Reason }): Effect.Effect<Reason | undefined> => Effect.succeed(why)

/** A due search for one trigger. */
interface DueSearch {
  readonly trigger: TriggerProfile
  readonly occasion: CatchUpOccasion
  readonly memory: SearchMemory
  readonly searchedAt: number | undefined
  readonly tally: { found: number; skipped: number }
  /** Marks that the search adds; they are stored once it is recorded. */
  readonly marks: Array<Parameters<CatchUps["Service"]["mark"]>[0]>
}

/** A kind of sources, on the nodes that have the credentials of its triggers. Its search returns why it is incomplete. */
interface Source<R> {
  readonly name: string
  readonly shardGroup: ShardGroup
  readonly covers: (kind: TriggerProfile["kind"]) => boolean
  readonly search: (due: DueSearch) => Effect.Effect<Reason | undefined, { readonly why: Reason }, R>
}

const search = Effect.fnUntraced(function* <R>(source: Source<R>, due: DueSearch) {
  const { memory, occasion, tally, trigger } = due
  const startedAt = yield* Clock.currentTimeMillis
  const failure = yield* Effect.catch(source.search(due), toWhy)
  memory.failures = failure === undefined ? 0 : memory.failures + 1
  const at = yield* Clock.currentTimeMillis
  const { mark, searched } = yield* CatchUps
  yield* searched(trigger.name, { occasion, startedAt, at, failure, ...tally })
  yield* Effect.forEach(due.marks, mark, { discard: true })
  yield* count(trigger.name, catchUps, 1, { occasion, outcome: failure === undefined ? "complete" : "incomplete" })
  yield* count(trigger.name, catchUpFound, tally.found)
  yield* count(trigger.name, catchUpSkipped, tally.skipped)
  if (failure !== undefined)
    yield* limitWarning(
      "catch-up",
      (suppressed) =>
        Effect.logWarning("missed changes of a trigger not all found, retry scheduled", {
          trigger: trigger.name,
          occasion,
          reason: failure,
          suppressed
        }),
      trigger.name
    )
  if (tally.found > 0 || tally.skipped > 0)
    yield* Effect.logWarning("changes were found that no delivery reported", {
      trigger: trigger.name,
      occasion,
      ...tally
    })
})

/** Starts the searches that are due. `isFirst`: only those that are requested, which are the beats of a node that starts, too. */
const scan = Effect.fnUntraced(function* <R>(source: Source<R>, searches: Searches, isFirst: boolean) {
  const now = yield* Clock.currentTimeMillis
  const triggers = [...(yield* ConfigStore).current().triggers.values()].filter(
    (trigger) => source.covers(trigger.kind) && isSearched(trigger) && !searches.running.has(trigger.name)
  )
  if (triggers.length === 0) return
  const states = new Map((yield* (yield* CatchUps).list).map((state) => [state.trigger, state]))
  for (const trigger of triggers) {
    const { name } = trigger
    const state = states.get(name)
    const memory = searches.memoryOf(name)
    const occasion = dueOccasion(trigger.settings, state, now, memory.failures)
    if (occasion === undefined || (isFirst && occasion === "beat")) continue
    searches.running.add(name)
    const results = { tally: { found: 0, skipped: 0 }, marks: [] }
    yield* search(source, { trigger, occasion, memory, searchedAt: state?.searchedAt, ...results }).pipe(
      Effect.catch(logUnsearched),
      Effect.ensuring(Effect.sync(() => searches.running.delete(name))),
      Effect.forkScoped
    )
  }
})

const logUnsearched = logFailure("missed changes not searched for, retry scheduled", {}, { level: "Error" })

const layerOf = <R>(source: Source<R>) =>
  Singleton.make(
    source.name,
    Effect.gen(function* () {
      yield* countStart(source.name)
      const searches = new Searches()
      yield* Effect.sleep(startDelay)
      for (let isFirst = true; ; isFirst = false) {
        yield* Effect.catch(scan(source, searches, isFirst), logUnsearched)
        yield* Effect.sleep(scanInterval)
      }
    }).pipe(Effect.scoped),
    { shardGroup: source.shardGroup }
  )

/** Searches git hosts, on a node that writes to them. */
export const hostsLayer = layerOf({
  name: "CatchUp",
  shardGroup: "publisher",
  covers: isForgeKind,
  search: ({ trigger, ...due }) =>
    isForgeKind(trigger.kind) ? searchHost(trigger, trigger.kind, due) : Effect.succeed(undefined)
})

/** Searches servers of Perforce and Subversion, on a node that routes their reports. */
export const depotsLayer = layerOf({
  name: "CatchUpDepots",
  shardGroup: "actors",
  covers: (kind) => !isForgeKind(kind),
  search: Effect.fnUntraced(function* (due) {
    const failure = yield* searchDepot(due)
    return failure ?? (yield* searchShelves(due))
  })
})
