/**
 * Routes VCS hook events, one in the cluster. Such an event is stored as a routing receipt, because the script only reports its depot. A
 * receipt is tried five times, at intervals of 0, 15, 30, 60 and 120 seconds, because a reload may add its workspace to the configuration,
 * and a replica of a repository may be late; then every five minutes for a day while its server is unreachable. The schedule depends on
 * the time of receipt alone, so that a restart neither skips nor repeats an attempt. An event without a match is settled with the reason.
 *
 * Matching changes become reviews (`RouteSubmitted`).
 */
import { Array as Arr, Clock, Duration, Effect, Fiber } from "effect"
import type { Scope } from "effect"
import { Singleton } from "effect/cluster"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import { firstIdAt } from "../../src/domain/Ids.ts"
import { limitWarning, logFailure } from "../../src/observability/LimitedWarnings.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import { countStart } from "../ActorStarts.ts"
import { NewReports } from "./NewReports.ts"
import type { ShardGroup } from "../Placement.ts"
import { byRevision, routeSubmitted } from "./RouteSubmitted.ts"
import { findTriggers } from "./SelectTriggers.ts"
import type { HookReport, RoutedEvent } from "./SelectTriggers.ts"

const scanInterval = Duration.millis(250)
/** Interval while no trigger is of Perforce or Subversion: only reports for one that was removed may wait. */
const restInterval = Duration.seconds(30)
/** Times the duration of reading receipts until they are read again, so that reports that arrive one after the other share scans. */
const pauseFactor = 3
/** Interval of scans of all waiting receipts; the others read the newest ones. */
const fullScanMillis = 5000
/** Time from the receipt of a report until it is stored, in which a scan does not find it. */
const storedWithinMillis = 1000
const page = 500
/** Receipts that are routed together. */
const groupSize = 100
/** A scan waits so long for slow servers; their receipts are routed further while other ones are scanned. */
const scanTime = Duration.seconds(2)
/** Ids of waiting events in a line of the log. */
const maxLogged = 10
/** Receipts that are settled at the same time: they share transactions. */
const settledAtOnce = 32
const firstPause = Duration.toMillis("15 seconds")
const attempts = 5
/** The sum 15 + 30 + 60 + 120 seconds. */
const givenUpAfter = firstPause * (2 ** (attempts - 1) - 1)
const laterPause = Duration.toMillis("5 minutes")
const unreachableFor = Duration.toMillis("24 hours")

/** Returns whether an attempt fell due since the last one. */
export const isTryDue = (waited: number, sinceLast: number): boolean => {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const at = firstPause * (2 ** attempt - 1)
    if (at <= waited && at > waited - sinceLast) return true
  }
  const [now, before] = [waited - givenUpAfter, waited - sinceLast - givenUpAfter]
  return now >= 0 && (before < 0 || Math.floor(now / laterPause) > Math.floor(before / laterPause))
}

/** State of the routing between scans. After a restart every waiting receipt is tried. */
export class RoutingMemory {
  /** Milliseconds from the receipt of an event to its last attempt, by its id. */
  readonly tried = new Map<string, number>()
  /** Triggers whose receipts are being routed. */
  readonly busy = new Set<string>()
  fullScanAt = Number.NEGATIVE_INFINITY
  scanAt = Number.NEGATIVE_INFINITY
}

/** A person waits for the reply: what the server does not have is refused by the first attempt, and an outage after the last one. */
const maxWait = ({ isOutage }: { readonly isOutage: boolean }, isRequested: boolean): number =>
  isRequested ? (isOutage ? givenUpAfter : 0) : isOutage ? unreachableFor : givenUpAfter

/** Ends waiting when the attempts are used up. */
const endWaiting = (
  routed: RoutedEvent,
  { routing, waited }: Pick<Waiting, "routing" | "waited">
): Exclude<RoutedEvent, { readonly _tag: "Waiting" }> | undefined => {
  if (routed._tag === "Settled") return routed
  if (waited < maxWait(routed, routing.requestedBy !== undefined)) return undefined
  return { _tag: "Settled", outcome: routed.isOutage ? "failed" : "skipped", reason: routed.reason }
}

interface Waiting extends HookReport {
  readonly waited: number
}

const settleAll = Effect.fnUntraced(function* (
  memory: RoutingMemory,
  group: ReadonlyArray<Waiting>,
  routed: ReadonlyMap<string, RoutedEvent>
) {
  const receipts = yield* Receipts
  const settle = Effect.fnUntraced(function* ({ event: { id }, routing, waited }: Waiting) {
    const result = routed.get(id)
    const end = result === undefined ? undefined : endWaiting(result, { routing, waited })
    if (end === undefined) return memory.tried.set(id, waited)
    const { outcome, reason } = end
    yield* receipts.settle([id], { outcome, reason }, yield* Clock.currentTimeMillis)
    memory.tried.delete(id)
    const line = { event_id: id, revision: routing.revision, outcome, reason }
    return yield* outcome === "executed"
      ? Effect.logInfo("VCS hook event routed", line)
      : Effect.logWarning("VCS hook event not reviewed", line)
  })
  yield* Effect.forEach(group, settle, { concurrency: settledAtOnce, discard: true })
  yield* postponeAll(group, routed)
})

/** Records the reasons of events that wait for their next attempt, because people look for their reviews before it. */
const postponeAll = Effect.fnUntraced(function* (
  group: ReadonlyArray<Waiting>,
  routed: ReadonlyMap<string, RoutedEvent>
) {
  const receipts = yield* Receipts
  const waiting = group.flatMap(({ event: { id }, routing, waited }) => {
    const result = routed.get(id)
    return result === undefined || endWaiting(result, { routing, waited }) !== undefined
      ? []
      : [{ id, reason: result.reason }]
  })
  for (const [key, events] of Map.groupBy(waiting, (one) => JSON.stringify(one.reason))) {
    const [first] = events
    if (first === undefined) continue
    const { reason } = first
    yield* receipts.postpone(
      events.map(({ id }) => id),
      reason
    )
    const line = { event_ids: events.slice(0, maxLogged).map(({ id }) => id), events: events.length, reason }
    yield* limitWarning(
      "VCS hook events waiting",
      (suppressed) => Effect.logWarning("VCS hook events waiting for their next attempt", { ...line, suppressed }),
      key
    )
  }
})

/** Routes the receipts of one set of triggers. Once their server is unreachable, the rest waits for its next attempt. */
const routeAll = Effect.fnUntraced(function* (memory: RoutingMemory, waiting: ReadonlyArray<Waiting>) {
  let outage: RoutedEvent | undefined
  for (const group of Arr.chunksOf(waiting.toSorted(byRevision), groupSize)) {
    const known = outage
    const routed: ReadonlyMap<string, RoutedEvent> =
      known === undefined
        ? yield* routeSubmitted(group, (yield* ConfigStore).current())
        : new Map(group.map(({ event }) => [event.id, known]))
    outage = [...routed.values()].every((one) => one._tag === "Waiting" && one.isOutage)
      ? routed.values().next().value
      : undefined
    yield* settleAll(memory, group, routed)
  }
})

/** Reads the receipts whose attempt is due. */
const readDue = Effect.fnUntraced(function* (memory: RoutingMemory, now: number) {
  const receipts = yield* Receipts
  const snapshot = (yield* ConfigStore).current()
  const isFull = now - memory.fullScanAt >= fullScanMillis
  let after = isFull ? undefined : firstIdAt(memory.scanAt - storedWithinMillis)
  const due = new Map<string, Array<Waiting>>()
  const existing = new Set<string>()
  while (true) {
    const events = yield* receipts.unrouted(after, page)
    for (const event of events) {
      const { id, receivedAt, routing } = event
      if (routing === undefined) continue
      existing.add(id)
      const waited = now - receivedAt
      const last = memory.tried.get(id)
      if (last !== undefined && !isTryDue(waited, waited - last)) continue
      const triggers = findTriggers(routing, snapshot)
      const key = JSON.stringify([routing.vcs, ...triggers.map(({ name }) => name)])
      if (memory.busy.has(key)) continue
      const group = due.get(key) ?? []
      group.push({ event, routing, triggers, waited })
      due.set(key, group)
    }
    after = events.at(-1)?.id
    if (events.length < page) break
  }
  if (isFull) {
    for (const id of memory.tried.keys()) if (!existing.has(id)) memory.tried.delete(id)
    memory.fullScanAt = now
  }
  memory.scanAt = now
  return due
})

/** Tries the waiting routing receipts that are due. Returns the duration of reading them. */
export const scan = Effect.fnUntraced(function* (memory: RoutingMemory, scope: Scope.Scope) {
  const [took, due] = yield* Effect.timed(readDue(memory, yield* Clock.currentTimeMillis))
  const fibers = yield* Effect.forEach(due, ([key, waiting]) => {
    memory.busy.add(key)
    return routeAll(memory, waiting).pipe(
      Effect.catch(logUnrouted),
      Effect.ensuring(Effect.sync(() => memory.busy.delete(key))),
      Effect.forkIn(scope, { startImmediately: true })
    )
  })
  yield* Effect.raceFirst(Fiber.awaitAll(fibers), Effect.sleep(scanTime))
  return took
})

const logUnrouted = logFailure("VCS hook events not routed, retry scheduled", {}, { level: "Error" })

const shardGroup: ShardGroup = "actors"

export const layer = Singleton.make(
  "DepotRouting",
  Effect.gen(function* () {
    yield* countStart("DepotRouting")
    const memory = new RoutingMemory()
    const scope = yield* Effect.scope
    const reports = yield* NewReports
    while (true) {
      const took = yield* Effect.catch(scan(memory, scope), (error) => Effect.as(logUnrouted(error), Duration.zero))
      yield* Effect.sleep(Duration.min(Duration.times(took, pauseFactor), scanInterval))
      const kinds = (yield* ConfigStore)
        .current()
        .triggers.values()
        .map(({ kind }) => kind)
      const interval = kinds.some((kind) => kind === "perforce" || kind === "subversion") ? scanInterval : restInterval
      yield* Effect.raceFirst(reports.wait, Effect.sleep(interval))
    }
  }).pipe(Effect.scoped),
  { shardGroup }
)
