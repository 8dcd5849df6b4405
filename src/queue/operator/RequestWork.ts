/** Requests work for a person or a program of this service: stores a receipt and queues the work, once per delivery key. */
import { Clock, Effect } from "effect"
import { ConfigStore } from "../../config/ConfigStore.ts"
import { hostTrigger, targetKey } from "../../domain/Change.ts"
import type { Change } from "../../domain/Change.ts"
import { Priority } from "../../domain/Entry.ts"
import { newId } from "../../domain/Ids.ts"
import type { DeliveryKey } from "../../domain/Keys.ts"
import { logDecision } from "../../store/LogDecision.ts"
import { Receipts } from "../../store/Receipts.ts"
import type { EventRecord } from "../../store/Receipts.ts"
import { enqueue } from "../Enqueue.ts"

export type Requested =
  | { readonly _tag: "Queued"; readonly eventId: string; readonly status: string }
  /** Its workspace or its trigger is no longer configured. */
  | { readonly _tag: "Gone" }

/** Returns whether the workspace and the trigger of a change are still configured. */
export const isConfigured = Effect.fnUntraced(function* (change: Change) {
  const { triggers, workspaces } = (yield* ConfigStore).current()
  return (
    triggers.get(change.trigger)?.kind === change.provider &&
    triggers.has(hostTrigger(change)) &&
    workspaces.has(change.workspace)
  )
})

interface Request {
  readonly change: Change
  /** Name of the event. */
  readonly event: string
  /** Returns the key of the delivery, from the id of its record. */
  readonly key: (eventId: string) => DeliveryKey
  /** Name of the requester. */
  readonly name: string
}

/** A delivery with the same key returns the first one. */
export const requestWork = Effect.fnUntraced(function* ({ change, event, key, name }: Request) {
  const snapshot = (yield* ConfigStore).current()
  const now = yield* Clock.currentTimeMillis
  const id = newId()
  const receipts = yield* Receipts
  const priority = change.target.kind === "comment" ? Priority.reply : Priority.command
  const work = { change, configHash: snapshot.hash, priority, dueAt: now }
  const record: EventRecord = {
    id,
    deliveryKey: key(id),
    provider: change.provider,
    event,
    action: undefined,
    trigger: change.trigger,
    workspace: change.workspace,
    targetKind: change.target.kind,
    targetKey: targetKey(change),
    repo: change.repo.fullName,
    facts: {
      number: change.target.number,
      head: change.head,
      branch: change.baseRef ?? change.target.branch,
      author: change.author?.username,
      sender: change.requestedBy
    },
    decision: "queued",
    reason: undefined,
    rule: { _tag: "RequestedBy", name },
    work,
    receivedAt: now
  }
  const stored = yield* receipts.store(record)
  if (stored._tag === "Duplicate")
    return { _tag: "Queued", eventId: stored.first.id, status: "duplicate" } satisfies Requested
  const [admitted] = yield* enqueue([{ eventId: id, ...work, admittedAt: now }])
  const status = admitted?.status ?? "queued"
  if (status !== "queued") yield* receipts.note({ decided: [{ id, decision: status }], duplicates: [] })
  yield* logDecision(record, { eventId: id, decision: status, reason: record.reason })
  return { _tag: "Queued", eventId: id, status } satisfies Requested
})
