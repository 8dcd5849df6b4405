/**
 * Requests another review for an administrator, as for a comment command. A pull request or an issue is reviewed in the state that the host has
 * when the review starts, any other change at the same commits or revisions.
 */
import { Effect } from "effect"
import { administrator, targetKey } from "../../domain/Change.ts"
import type { Change } from "../../domain/Change.ts"
import { deliveryKey, uniqueDeliveryKey } from "../../domain/Keys.ts"
import { Receipts } from "../../store/Receipts.ts"
import { isConfigured, requestWork } from "./RequestWork.ts"
import type { Requested } from "./RequestWork.ts"

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
  if (!(yield* isConfigured(reviewed))) return { _tag: "Gone" } satisfies Requested
  const change = toRequested(reviewed, name)
  const repeated = yield* findRepeated(change)
  if (repeated !== undefined) return { _tag: "Queued", eventId: repeated.id, status: "duplicate" } satisfies Requested
  const base = deliveryKey(change.provider, "rereview")
  return yield* requestWork({ change, event: "rereview", key: (id) => uniqueDeliveryKey(base, id), name })
})
