/**
 * Requests another review for an administrator: stores a receipt and queues it, as for a comment command. A pull request or an issue is
 * reviewed in the state that the host has when the review starts, any other change at the same commits or revisions.
 */
import { Clock, Effect } from "effect"
import { ConfigStore } from "../../config/ConfigStore.ts"
import { administrator, hostTrigger, targetKey } from "../../domain/Change.ts"
import type { Change } from "../../domain/Change.ts"
import { Priority } from "../../domain/Entry.ts"
import { newId } from "../../domain/Ids.ts"
import { deliveryKey, uniqueDeliveryKey } from "../../domain/Keys.ts"
import { logDecision } from "../../store/LogDecision.ts"
import { Receipts } from "../../store/Receipts.ts"
import type { EventRecord } from "../../store/Receipts.ts"
import { enqueue } from "../Enqueue.ts"

export type Again =
  | { readonly _tag: "Queued"; readonly eventId: string; readonly status: string }
  /** Its workspace or its trigger is no longer configured. */
  | { readonly _tag: "Gone" }

/** Newest deliveries of a target among which a request that waits is searched. */
const maxDeliveries = 20

const toRequested = ({ base, head, ...change }: Change, name: string): Change => {
  const isRead = change.target.kind === "pull_request" || change.target.kind === "issue"
  return { ...change, ...(isRead ? {} : { base, head }), requestedBy: administrator(name) }
}

/** Pushes are queued in batches of their own, so a request that is repeated before its review is found by its record. */
const findRepeated = Effect.fnUntraced(function* (change: Change) {
  if (change.target.kind !== "push") return undefined
  const events = yield* (yield* Receipts).list({ targetKey: targetKey(change), limit: maxDeliveries })
  return events.find(
    ({ event, outcome, work }) => event === "rereview" && outcome === undefined && work?.change.head === change.head
  )
})

export const reviewAgain = Effect.fnUntraced(function* (reviewed: Change, name: string) {
  const snapshot = (yield* ConfigStore).current()
  const { provider, trigger, workspace } = reviewed
  const isConfigured = snapshot.triggers.get(trigger)?.kind === provider && snapshot.triggers.has(hostTrigger(reviewed))
  if (!isConfigured || !snapshot.workspaces.has(workspace)) return { _tag: "Gone" } satisfies Again
  const change = toRequested(reviewed, name)
  const repeated = yield* findRepeated(change)
  if (repeated !== undefined) return { _tag: "Queued", eventId: repeated.id, status: "duplicate" } satisfies Again
  const now = yield* Clock.currentTimeMillis
  const id = newId()
  const receipts = yield* Receipts
  const priority = change.target.kind === "comment" ? Priority.reply : Priority.command
  const work = { change, configHash: snapshot.hash, priority, dueAt: now }
  const record: EventRecord = {
    id,
    deliveryKey: uniqueDeliveryKey(deliveryKey(change.provider, "rereview"), id),
    provider: change.provider,
    event: "rereview",
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
  yield* receipts.store(record)
  const [admitted] = yield* enqueue([{ eventId: id, ...work, admittedAt: now }])
  const status = admitted?.status ?? "queued"
  if (status !== "queued") yield* receipts.note({ decided: [{ id, decision: status }], duplicates: [] })
  yield* logDecision(record, { eventId: id, decision: status, reason: record.reason })
  return { _tag: "Queued", eventId: id, status } satisfies Again
})
