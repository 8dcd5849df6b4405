/**
 * The slots of a node. A review holds one from its ticket until its plan is made, so `concurrency` reviews compute; from then on it awaits
 * its model with at most `max_waiting_for_model` others, each of which holds its change in memory (src/engine/threads).
 *
 * ```
 * free ──ticket──▶ computes ──plan is made─────▶ awaits its model ──▶ free
 *                     └──────────no call─────────────────────────────▶
 * ```
 */
import { Effect, Semaphore } from "effect"
import type { QueueConfig } from "../../src/config/schema/Queue.ts"
import type { WorkKind } from "../../src/queue/dispatch/Tickets.ts"

export interface ReviewSlots {
  /** Reviews that a node holds at a time, in either state. */
  readonly total: number
  /** Waits for a slot. The returned effect leaves it to another review; it may be repeated. */
  readonly take: Effect.Effect<Effect.Effect<void>>
}

export const makeSlots = Effect.fnUntraced(function* ({ workers }: QueueConfig) {
  const computing = yield* Semaphore.make(workers.concurrency)
  return {
    review: {
      total: workers.concurrency + workers.max_waiting_for_model,
      take: Effect.map(computing.take(1), () => once(Effect.asVoid(computing.release(1))))
    },
    // A reply holds no change, so that it keeps its slot while it waits for its model.
    reply: { total: workers.replies, take: Effect.succeed(Effect.void) }
  } satisfies Record<WorkKind, ReviewSlots>
})

/** Returns an effect that runs the given one only the first time. */
export const once = (effect: Effect.Effect<void>): Effect.Effect<void> => {
  let isOver = false
  return Effect.suspend(() => {
    if (isOver) return Effect.void
    isOver = true
    return effect
  })
}
