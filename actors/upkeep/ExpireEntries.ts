/** Expires automatic work that waited longer than queued_timeout_hours, and notifies chat groups. */
import { Effect } from "effect"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import type { Entry } from "../../src/domain/Entry.ts"
import { expiryCutoffs, queuedTimeoutHours } from "../../src/queue/ExpiryCutoffs.ts"
import { Queue, QueueError } from "../../src/queue/Queue.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import { publishers } from "../publishing/ChangePublisher.ts"
import { entryFields } from "./ReclaimLeases.ts"
import { each } from "./SweepStep.ts"

/** Timeout of the message to the publisher. */
const messageTimeout = "10 seconds"

/** Runs before the receipts get their outcome, so that the next sweep retries what fails here. */
export const noteExpired = Effect.fnUntraced(function* ({ id, targetKey: target }: Entry) {
  const publisher = (yield* publishers)(target)
  if (yield* publisher.NoteExpired({ entryId: id }).pipe(Effect.timeout(messageTimeout))) return
  yield* new QueueError({ reason: "unavailable", why: { _tag: "ExpiryNotRecorded", entry: id } })
})

export const expire = Effect.fnUntraced(function* (now: number) {
  const queue = yield* Queue
  const receipts = yield* Receipts
  const snapshot = (yield* ConfigStore).current()
  const expired = yield* queue.expire(expiryCutoffs(snapshot, now), { _tag: "QueuedTimeout" })
  const settleExpired = Effect.fnUntraced(function* (entry: Entry) {
    yield* Effect.logWarning("queue entry expired: it waited for longer than queued_timeout_hours").pipe(
      Effect.annotateLogs({
        target: entry.targetKey,
        hours: queuedTimeoutHours(snapshot, entry.workspace)
      })
    )
    yield* noteExpired(entry)
    yield* receipts.settle(entry.events, { outcome: "expired", reason: { _tag: "QueuedTimeout" } }, now)
  })
  yield* each(expired, entryFields, settleExpired)
})
