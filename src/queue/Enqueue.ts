/** Queues the work of receipts, for ingress and recovery: admits it and settles the records of superseded deliveries. Idempotent. */
import { Effect } from "effect"
import type { Batches } from "../store/Batches.ts"
import { Receipts } from "../store/Receipts.ts"
import type { StoreError } from "../database/StoreError.ts"
import { admitLogged } from "./AutomaticCommits.ts"
import type { Queue } from "./Queue.ts"
import type { QueueAdmission, QueueAdmitted, QueueError } from "./Queue.ts"

export const enqueue = Effect.fnUntraced(function* (
  items: ReadonlyArray<QueueAdmission>
): Effect.fn.Return<ReadonlyArray<QueueAdmitted>, QueueError | StoreError, Queue | Receipts | Batches> {
  const receipts = yield* Receipts
  const admitted = yield* admitLogged(items)
  for (const [index, admission] of admitted.entries()) {
    if (admission.superseded.length === 0) continue
    yield* receipts.settle(
      admission.superseded,
      { outcome: "superseded", reason: { _tag: "NewerDelivery", event: items[index]?.eventId } },
      items[index]?.admittedAt ?? 0
    )
  }
  return admitted
})
