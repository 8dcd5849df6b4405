/**
 * Retries a dead entry for an operator: removes the outcome of its receipts, and reopens a batch of automatic commits. This is done before,
 * because a crash then leaves only an ended entry whose outcome the sweeper records again; and repeated after, because the sweeper may have
 * done so in between.
 */
import { Effect } from "effect"
import type { Entry } from "../../domain/Entry.ts"
import { Batches } from "../../store/Batches.ts"
import { Receipts } from "../../store/Receipts.ts"
import type { StoreError } from "../../database/StoreError.ts"
import type { QueueError } from "../Queue.ts"
import { QueueControl } from "./QueueControl.ts"
import type { Retried } from "./QueueControl.ts"

export const tryAgain = Effect.fnUntraced(function* (
  entry: Entry,
  now: number
): Effect.fn.Return<Retried, QueueError | StoreError, Batches | QueueControl | Receipts> {
  if (entry.status !== "dead") return "not_dead"
  const batches = yield* Batches
  const receipts = yield* Receipts
  const reopen = Effect.andThen(receipts.reopen(entry.events), batches.reopen(entry.id))
  yield* reopen
  const result = yield* (yield* QueueControl).retry(entry.id, now)
  if (result === "retried") yield* reopen
  return result
})
