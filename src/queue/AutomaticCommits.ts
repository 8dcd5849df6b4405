/**
 * Queues automatic pushes: they are collected in batches (store/Batches.ts), and the first unfinished batch of each stream is in the queue,
 * as one entry that grows while the batch is open. The next batch waits in the records until the previous one has ended: one running batch
 * per stream, in order. Other work is admitted unchanged.
 */
import { Effect } from "effect"
import { inEventTrace } from "../domain/EventTrace.ts"
import { batchLifecycle } from "../domain/Batch.ts"
import { Batches } from "../store/Batches.ts"
import type { Batch, Joined } from "../store/Batches.ts"
import type { StoreError } from "../database/StoreError.ts"
import { Queue } from "./Queue.ts"
import type { QueueAdmission, QueueAdmitted, QueueError } from "./Queue.ts"

const isPush = (item: QueueAdmission): boolean => item.change.target.kind === "push" && item.change.head !== undefined

/** Calls `Queue.admit` for work of all kinds. Idempotent; results are in the order of the items. */
export const admit = (
  items: ReadonlyArray<QueueAdmission>
): Effect.Effect<ReadonlyArray<QueueAdmitted>, QueueError | StoreError, Queue | Batches> =>
  items.some(isPush) ? admitSorted(items) : Effect.flatMap(Queue, (queue) => queue.admit(items))

/** Calls `admit` for work whose entries no other line of log names. */
export const admitLogged = (items: ReadonlyArray<QueueAdmission>) =>
  Effect.tap(admit(items), (admitted) => logQueued(items, admitted))

/** Logs each entry that work was added to. A repeated admission changed nothing. */
const logQueued = (items: ReadonlyArray<QueueAdmission>, admitted: ReadonlyArray<QueueAdmitted>) =>
  Effect.forEach(
    items,
    ({ change, eventId }, index) => {
      const result = admitted[index]
      if (result === undefined || result.status === "duplicate") return Effect.void
      return inEventTrace([eventId])(
        Effect.logInfo("entry queued", {
          event_id: eventId,
          entry_id: result.entryId,
          workspace: change.workspace,
          status: result.status,
          due_at: new Date(result.dueAt).toISOString()
        })
      )
    },
    { discard: true }
  )

const admitSorted = Effect.fnUntraced(function* (items: ReadonlyArray<QueueAdmission>) {
  const queue = yield* Queue
  const batches = yield* Batches
  const joined = yield* batches.join(items.filter(isPush))
  const ofEvent = new Map(items.filter(isPush).map((item, index) => [item.eventId, joined[index]]))
  // A batch that takes several of these pushes is queued in its state after the last of them.
  const newest = new Map(joined.map(({ batch }) => [batch.id, batch]))
  const batchOf = (item: QueueAdmission): Joined | undefined => ofEvent.get(item.eventId)

  const going = items.flatMap((item) => {
    const place = batchOf(item)
    if (place === undefined) return [item]
    return isQueued(place) ? [toAdmission(newest.get(place.batch.id) ?? place.batch, item.eventId)] : []
  })
  const admitted = new Map<string, QueueAdmitted>()
  for (const [index, admission] of (yield* queue.admit(going)).entries()) {
    const item = going[index]
    if (item !== undefined) admitted.set(item.eventId, admission)
  }
  const entered = new Map<string, string>()
  for (const item of items) {
    const place = batchOf(item)
    const entryId = admitted.get(item.eventId)?.entryId
    if (place !== undefined && entryId !== undefined && entryId !== place.batch.entryId) {
      entered.set(place.batch.id, entryId)
    }
  }
  if (entered.size > 0) {
    yield* batches.entered([...entered].map(([batchId, entryId]) => ({ batchId, entryId })))
  }
  return items.map((item) => admitted.get(item.eventId) ?? toHeldResult(item, batchOf(item)))
})

const isQueued = ({ batch, first }: Joined): boolean => first && !batchLifecycle.isTerminal(batch.status)

/** Returns the admission of the whole batch under the event id of one of its pushes. */
export const toAdmission = (batch: Batch, eventId: string): QueueAdmission => ({
  eventId,
  change: batch.change,
  configHash: batch.configHash,
  priority: batch.priority,
  admittedAt: batch.firstAt,
  dueAt: batch.dueAt,
  reason: { _tag: "CollectsPushes" }
})

/** Returns the result for a push whose batch is not in the queue: it waits for the previous one, or has ended. */
const toHeldResult = (item: QueueAdmission, place: Joined | undefined): QueueAdmitted => ({
  entryId: place?.batch.entryId ?? "",
  status:
    place === undefined || place.how === "known" ? "duplicate" : place.how === "joined" ? "coalesced" : "deferred",
  dueAt: place?.batch.dueAt ?? item.dueAt,
  superseded: []
})
