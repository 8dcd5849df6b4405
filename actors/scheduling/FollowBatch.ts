/**
 * Copies the state of a review from its queue entry to its batch of automatic commits and the members, settles the receipts of the members
 * when the review has ended, and queues the first batch of a stream. Each step is idempotent, so that any node may take it at any time.
 */
import { Clock, Effect } from "effect"
import { toEventOutcome, statusAfter, statusBy } from "../../src/domain/Batch.ts"
import type { Entry } from "../../src/domain/Entry.ts"
import type { TargetKey } from "../../src/domain/Keys.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import { toAdmission } from "../../src/queue/AutomaticCommits.ts"
import { Queue } from "../../src/queue/Queue.ts"
import { Batches } from "../../src/store/Batches.ts"
import type { Batch, Placed } from "../../src/store/Batches.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import { Runs } from "../../src/store/Runs.ts"
import { WorkspaceScheduler } from "./WorkspaceScheduler.ts"

/** Updates the batch from its entry. Returns whether the batch has ended. */
const syncBatch = Effect.fnUntraced(function* (batch: Batch, entry: Entry, now: number) {
  const batches = yield* Batches
  const status = statusBy(entry, now)
  const outcome = toEventOutcome(status)
  if (outcome === undefined) {
    yield* batches.follow(batch.id, { status, reason: entry.reason }, now)
    return false
  }
  // The run is read from its own record, because the worker may not have written it to the receipts yet.
  const runs = yield* (yield* Runs).list({ targetKey: batch.stream, limit: 50 })
  const runId = runs.find((run) => run.entryId === entry.id)?.id
  const members = yield* batches.members(batch.id)
  yield* (yield* Receipts).settle(
    members.map(({ eventId }) => eventId),
    { outcome, reason: entry.reason, runId },
    now
  )
  return yield* batches.follow(batch.id, { status, reason: entry.reason, runId }, now)
})

/** Queues the first batch of its stream when it was never queued or the queue has lost it. */
const enqueueBatch = Effect.fnUntraced(function* (batch: Batch, now: number) {
  const batches = yield* Batches
  const receipts = yield* Receipts
  const events = yield* Effect.forEach(yield* batches.members(batch.id), ({ eventId }) => receipts.get(eventId))
  const known = events.filter((event) => event !== undefined)
  const waiting = known.filter((event) => event.outcome === undefined)
  if (waiting.length === 0) {
    const last = known.at(-1)
    const status = last?.outcome === undefined ? "cancelled" : statusAfter[last.outcome]
    const reason: Reason | undefined = last === undefined ? { _tag: "ReceiptsRemoved" } : last.outcomeReason
    return yield* batches.follow(batch.id, { status, reason, runId: last?.runId }, now)
  }
  const queue = yield* Queue
  const admitted = yield* queue.admit(waiting.map(({ id }) => toAdmission(batch, id)))
  const entryId = admitted[0]?.entryId
  if (entryId !== undefined) yield* batches.entered([{ batchId: batch.id, entryId }])
  yield* (yield* WorkspaceScheduler.client)(batch.workspace).Wake(undefined, { discard: true })
  return false
})

/** Returns whether the batch has ended. */
export const followBatch = Effect.fnUntraced(function* ({ batch, first }: Placed, now: number) {
  const entry = batch.entryId === undefined ? undefined : yield* (yield* Queue).get(batch.entryId)
  if (entry !== undefined) return yield* syncBatch(batch, entry, now)
  if (first) return yield* enqueueBatch(batch, now)
  if (batch.dueAt <= now) {
    yield* (yield* Batches).follow(batch.id, { status: "ready", reason: { _tag: "PreviousBatch" } }, now)
  }
  return false
})

/** Ends the first batches of the stream whose reviews have ended, and queues the one after them. */
export const followStream = Effect.fnUntraced(function* (stream: TargetKey) {
  const batches = yield* Batches
  while (true) {
    const [first] = yield* batches.unfinished({ stream, limit: 1 })
    if (first === undefined || !(yield* followBatch(first, yield* Clock.currentTimeMillis))) return
  }
})
