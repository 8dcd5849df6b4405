/** Reads what the records say about earlier publications, for the channels (src/outputs/Records.ts). */
import { Effect } from "effect"
import { hostTrigger } from "../../src/domain/Change.ts"
import type { PublishedRecords, TouchedComment } from "../../src/outputs/Records.ts"
import { Outbox } from "../../src/store/Outbox.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import { storeFailed } from "./TargetHold.ts"

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
    reviews: (row) => Effect.mapError(outbox.sentRows(row, "Review"), storeFailed),
    issues: (row) => Effect.mapError(outbox.sentRows(row, "Issue"), storeFailed),
    listed: ({ channel, targetKey }) =>
      outbox.lastSent(targetKey, "Summary", { channel }).pipe(
        Effect.map((row) => row?.listed ?? []),
        Effect.mapError(storeFailed)
      ),
    touched: ({ repo, target: { number }, ...change }) =>
      number === undefined
        ? Effect.succeed([])
        : receipts.touches({ repo: repo.fullName, trigger: hostTrigger(change), number }, Object.keys(touches)).pipe(
            Effect.map((found) =>
              found.flatMap(({ action: name, lastAt: at, sender: by }) => {
                const action = touches[name]
                return action === undefined ? [] : [{ by, action, at }]
              })
            ),
            Effect.mapError(storeFailed)
          ),
    sentAt: ({ id, runId }) =>
      outbox.history(runId).pipe(
        Effect.map((rows) => rows.find((row) => row.id === id)?.updatedAt),
        Effect.mapError(storeFailed)
      )
  }
  return records
})
