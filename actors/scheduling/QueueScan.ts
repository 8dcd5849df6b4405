/**
 * Scans the queue of a workspace once: loads the entries in flight and the eligible ones, decides with `plan` and `decideOffers`, promotes
 * and demotes entries and offers their tickets. Returns the milliseconds until the next scan, or undefined if only a wake can change
 * anything.
 */
import { Clock, Effect } from "effect"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import { isReply } from "../../src/domain/Entry.ts"
import { maxInFlight, plan, workspaceLimits } from "../../src/queue/Plan.ts"
import type { Scheduled } from "../../src/queue/Plan.ts"
import { Queue } from "../../src/queue/Queue.ts"
import { Tickets } from "../../src/queue/dispatch/Tickets.ts"
import { ServedRepositories } from "./ServedRepositories.ts"
import { decideOffers } from "./TicketOffers.ts"
import type { OfferedAt } from "./TicketOffers.ts"

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
