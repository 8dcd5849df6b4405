/** Releases entries whose lease ran out, or whose process no longer exists. */
import { Effect } from "effect"
import type { EventOutcome } from "../../src/domain/Decision.ts"
import type { Entry, EntryStatus } from "../../src/domain/Entry.ts"
import { LiveNodes } from "../../src/domain/LiveNodes.ts"
import { Queue } from "../../src/queue/Queue.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import { each } from "./SweepStep.ts"

/** The outcome of the receipts of an ended entry, if it is not that of its review. */
export const endOutcomes: Partial<Record<EntryStatus, EventOutcome>> = {
  superseded: "superseded",
  cancelled: "cancelled",
  expired: "expired",
  dead: "failed"
}

export const entryFields = ({ id, workspace }: Entry) => ({ entry_id: id, workspace })

export const reclaim = Effect.fnUntraced(function* (now: number) {
  const queue = yield* Queue
  const lost = yield* (yield* LiveNodes).lost
  const receipts = yield* Receipts
  yield* each(yield* queue.reclaim(now, lost), entryFields, ({ id, status, events, reason, targetKey: target }) => {
    const outcome = endOutcomes[status]
    return Effect.andThen(
      Effect.logWarning("queue entry of a lost worker released", { entry_id: id, target, status, reason }),
      outcome === undefined ? Effect.void : receipts.settle(events, { outcome, reason }, now)
    )
  })
})
