/** Reads what the records say about earlier publications, for the channels (src/outputs/Records.ts). */
import { Effect } from "effect"
import { hostTrigger } from "../src/domain/Change.ts"
import type { PublishedRecords, TouchedComment } from "../src/outputs/Records.ts"
import { Outbox } from "../src/store/Outbox.ts"
import { Receipts } from "../src/store/Receipts.ts"
import { storeFailed } from "./TargetHold.ts"

/** Deliveries that are read, the newest. */
const maxDeliveries = 500

/** Actions of the hosts. */
const touches: Readonly<Record<string, TouchedComment["action"]>> = {
  deleted: "deleted",
  edited: "edited",
  update: "edited"
}

export const publishedRecords = Effect.gen(function* () {
  const outbox = yield* Outbox
  const receipts = yield* Receipts
  const records: PublishedRecords = {
    operation: (id) =>
      outbox.recorded(id).pipe(
        Effect.map((row) => row?.operation),
        Effect.mapError(storeFailed)
      ),
    reviews: (row) => Effect.mapError(outbox.sentReviews(row), storeFailed),
    touched: (change) => {
      const { number } = change.target
      const filter = { repo: change.repo.fullName, trigger: hostTrigger(change), reason: "own_event" }
      return receipts.list({ ...filter, number, limit: maxDeliveries }).pipe(
        Effect.map((deliveries) =>
          deliveries.flatMap(({ action: name = "", facts: { sender }, receivedAt: at }) => {
            const action = Object.hasOwn(touches, name) ? touches[name] : undefined
            return sender === undefined || action === undefined ? [] : [{ by: sender, action, at }]
          })
        ),
        Effect.mapError(storeFailed)
      )
    },
    sentAt: ({ id, runId }) =>
      outbox.history(runId).pipe(
        Effect.map((rows) => rows.find((row) => row.id === id)?.updatedAt),
        Effect.mapError(storeFailed)
      )
  }
  return records
})
