/**
 * Scans the queue of a workspace once: loads the entries in flight and the eligible ones, decides with `plan` and `decideOffers`, promotes
 * and demotes entries and offers their tickets. Returns the milliseconds until the next scan, or undefined if only a wake can change
 * anything.
 */
import { Clock, Effect, Duration } from "effect"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import { isReply } from "../../src/domain/Entry.ts"
import { maxInFlight, plan, workspaceLimits } from "../../src/queue/Plan.ts"
import type { Scheduled } from "../../src/queue/Plan.ts"
import { Queue } from "../../src/queue/Queue.ts"
import { Tickets } from "../../src/queue/dispatch/Tickets.ts"

/** Age of a ticket after which an unclaimed entry gets another one. */
const reofferAfterMillis = Duration.toMillis("30 seconds")

/**
 * Decides which ready entries get a ticket now and when the queue is scanned next. A pure function of the ready entries, the time of each
 * entry's last ticket, and the clock.
 *
 * | a ready entry                                  | gets a ticket                  |
 * |------------------------------------------------|--------------------------------|
 * | without a ticket from this activation          | now                            |
 * | whose last ticket is at least 30 seconds old   | now, because it may be lost    |
 * | otherwise                                      | 30 seconds after the last      |
 *
 * Time of the last ticket of each ready entry, by entry id.
 */
type OfferedAt = ReadonlyMap<string, number>

interface Offers {
  readonly entryIds: ReadonlyArray<string>
  /** Includes these offers and excludes entries that are no longer ready. */
  readonly offeredAt: OfferedAt
  /** Time of the next scan without a wake; undefined if only a wake can change anything. */
  readonly nextScanAt: number | undefined
}

export const decideOffers = (
  ready: ReadonlyArray<string>,
  offeredAt: OfferedAt,
  nextDueAt: number | undefined,
  now: number
): Offers => {
  const entryIds = [...new Set(ready)].filter((id) => (offeredAt.get(id) ?? -Infinity) + reofferAfterMillis <= now)
  const current = new Map(ready.map((id) => [id, offeredAt.get(id) ?? now]))
  for (const id of entryIds) current.set(id, now)
  const reofferAt = [...current.values()].map((at) => at + reofferAfterMillis)
  const times = nextDueAt === undefined ? reofferAt : [nextDueAt, ...reofferAt]
  return { entryIds, offeredAt: current, nextScanAt: times.length === 0 ? undefined : Math.min(...times) }
}

/** Maximum number of repositories remembered. A larger number would not improve fairness. */
const maxRepositories = 1000

/**
 * Remembers the round in which each repository was last served. After a restart of the scheduler this is empty and the oldest entry comes
 * first.
 */
class ServedRepositories {
  readonly #last = new Map<string, number>()
  #round = 0

  get last(): ReadonlyMap<string, number> {
    return this.#last
  }

  served(entries: ReadonlyArray<Scheduled>): void {
    for (const { repo } of entries) {
      this.#last.delete(repo)
      this.#last.set(repo, this.#round++)
    }
    for (const repo of this.#last.keys()) {
      if (this.#last.size <= maxRepositories) return
      this.#last.delete(repo)
    }
  }
}

/** State of one scheduler activation between scans. Only tickets and fairness depend on it. */
export class ScanMemory {
  readonly served = new ServedRepositories()
  offeredAt: OfferedAt = new Map()
}

/** A snapshot that took longer to load is discarded as stale. */
const maxSnapshotMillis = 3000

const idsOf = (entries: ReadonlyArray<Scheduled>) => entries.map(({ id }) => id)

export const scanQueue = Effect.fnUntraced(function* (workspace: string, memory: ScanMemory) {
  const queue = yield* Queue
  const tickets = yield* Tickets
  const beganAt = performance.now()
  const now = yield* Clock.currentTimeMillis
  const limits = workspaceLimits((yield* ConfigStore).current().document.queue)
  const snapshot = yield* queue.loadSnapshot(workspace, now, maxInFlight(limits))
  const next = plan(snapshot, limits, memory.served.last)
  // This node was frozen, and another one may have decided since then.
  if (performance.now() - beganAt > maxSnapshotMillis) return maxSnapshotMillis
  if (next.demote.length > 0) yield* queue.demote(idsOf(next.demote))
  const promoted = next.promote.length === 0 ? [] : yield* queue.promote(idsOf(next.promote), now)
  memory.served.served(next.promote.filter((entry) => !isReply(entry)))

  const stillReady = snapshot.inFlight.filter((entry) => entry.status === "ready" && !next.demote.includes(entry))
  const offers = decideOffers([...promoted, ...idsOf(stillReady)], memory.offeredAt, next.nextAt, now)
  memory.offeredAt = offers.offeredAt
  const replies = new Set(idsOf([...next.promote, ...stillReady].filter(isReply)))
  for (const entryId of offers.entryIds)
    yield* tickets.offer({ entryId, workspace, kind: replies.has(entryId) ? "reply" : "review" })
  return offers.nextScanAt === undefined ? undefined : Math.max(0, offers.nextScanAt - now)
})
