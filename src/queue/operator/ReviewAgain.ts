/**
 * Requests another review of a pull request for an administrator: stores a receipt and queues it, as for a comment command. The review
 * covers the state of the host when it starts.
 */
import { Clock, Effect } from "effect"
import { ConfigStore } from "../../config/ConfigStore.ts"
import { administrator, targetKey } from "../../domain/Change.ts"
import type { Change } from "../../domain/Change.ts"
import { Priority } from "../../domain/Entry.ts"
import { newId } from "../../domain/Ids.ts"
import { deliveryKey, uniqueDeliveryKey } from "../../domain/Keys.ts"
import { logDecision } from "../../store/LogDecision.ts"
import { Receipts } from "../../store/Receipts.ts"
import type { EventRecord } from "../../store/Receipts.ts"
import { enqueue } from "../Enqueue.ts"

/** `gone`: its workspace or trigger is no longer configured. `other`: it is not a pull request. */
export type Again =
  | { readonly _tag: "Queued"; readonly eventId: string; readonly status: string }
  | { readonly _tag: "Refused"; readonly why: "gone" | "other" }

export const reviewAgain = Effect.fnUntraced(function* (reviewed: Change, name: string) {
  if (reviewed.target.kind !== "pull_request") return { _tag: "Refused", why: "other" } satisfies Again
  const snapshot = (yield* ConfigStore).current()
  if (!snapshot.workspaces.has(reviewed.workspace) || !snapshot.triggers.has(reviewed.trigger))
    return { _tag: "Refused", why: "gone" } satisfies Again
  const { base: _base, head: _head, ...rest } = reviewed
  const change: Change = { ...rest, requestedBy: administrator(name) }
  const now = yield* Clock.currentTimeMillis
  const id = newId()
  const receipts = yield* Receipts
  const work = { change, configHash: snapshot.hash, priority: Priority.command, dueAt: now }
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
      branch: change.baseRef,
      author: change.author?.username,
      sender: change.requestedBy
    },
    decision: "queued",
    reason: `requested by ${name}`,
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
