/** Queues the work of receipts without an outcome, which a crash prevented. Idempotent. */
import { Clock, Effect } from "effect"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import { targetKey } from "../../src/domain/Change.ts"
import { isTerminal } from "../../src/domain/Entry.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import { enqueue } from "../../src/queue/Enqueue.ts"
import { Queue } from "../../src/queue/Queue.ts"
import { selectUnreviewed } from "../../src/queue/UnreviewedHeads.ts"
import type { AdmittedChange } from "../../src/queue/UnreviewedHeads.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import type { StoredEvent } from "../../src/store/Receipts.ts"
import { publishers } from "../publishing/ChangePublisher.ts"
import { noteExpired } from "./ExpireEntries.ts"
import { endOutcomes } from "./ReclaimLeases.ts"
import { each, page } from "./SweepStep.ts"

/** Settles a receipt whose entry ended before a crash prevented it. */
const settleEnded = Effect.fnUntraced(function* (eventId: string, entryId: string) {
  const entry = yield* (yield* Queue).get(entryId)
  if (entry === undefined || !isTerminal(entry.status)) return
  if (entry.status === "expired") yield* noteExpired(entry)
  const outcome = endOutcomes[entry.status] ?? "executed"
  yield* (yield* Receipts).settle([eventId], { outcome, reason: entry.reason }, yield* Clock.currentTimeMillis)
})

/** Requeues receipts without an outcome, and marks heads that were never reviewed for them. `before` excludes deliveries that are still being queued. */
export const requeue = Effect.fnUntraced(function* (before: number) {
  const receipts = yield* Receipts
  let after: string | undefined
  while (true) {
    const events = yield* receipts.unsettled(after, page)
    const last = events.at(-1)
    if (last === undefined) return
    after = last.id
    const waiting: Array<AdmittedChange> = []
    yield* each(
      events,
      ({ id }) => ({ event_id: id }),
      (event) =>
        Effect.map(requeueOne(event, before), (admitted) => {
          if (admitted !== undefined) waiting.push(admitted)
        })
    )
    const publisherOf = yield* publishers
    yield* each(
      yield* selectUnreviewed(waiting),
      ({ entryId }) => ({ entry_id: entryId }),
      ({ change, entryId }) => publisherOf(targetKey(change)).Unreviewed({ entryId }, { discard: true })
    )
  }
})

/** Returns the queued change. */
const requeueOne = Effect.fnUntraced(function* ({ id, work, receivedAt }: StoredEvent, before: number) {
  if (work === undefined || receivedAt > before) return undefined
  const receipts = yield* Receipts
  const { change, command, configHash, priority, dueAt } = work
  const pinned = yield* (yield* ConfigStore).pinned(configHash)
  if (!pinned.workspaces.has(change.workspace)) {
    // Another node may have the configuration of the delivery.
    if (pinned.hash !== configHash) return undefined
    const reason: Reason = { _tag: "WorkspaceUnconfigured", workspace: change.workspace }
    yield* receipts.settle([id], { outcome: "cancelled", reason }, yield* Clock.currentTimeMillis)
    return undefined
  }
  if (command !== undefined) {
    const publisherOf = yield* publishers
    yield* publisherOf(targetKey(change)).Command({ eventId: id }, { discard: true })
    return undefined
  }
  const [admitted] = yield* enqueue([{ eventId: id, change, configHash, priority, dueAt, admittedAt: receivedAt }])
  if (admitted?.status === "duplicate") yield* settleEnded(id, admitted.entryId)
  return admitted && { entryId: admitted.entryId, change }
})
