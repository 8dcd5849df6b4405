/**
 * The slots of a connection: a request holds one while it takes steps, and leaves it while it awaits a listing of a directory, so that a
 * directory that does not respond delays only the people whose rights depend on it.
 */
import { Effect, Semaphore } from "effect"

export interface ChatSlots {
  /** Takes a slot if one is free. */
  readonly takeIfFree: Effect.Effect<boolean>
  readonly release: Effect.Effect<void>
  /** Runs an effect without the slot of its caller, who has one again after it. */
  readonly without: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

export const makeChatSlots = (total: number): ChatSlots => {
  const slots = Semaphore.makeUnsafe(total)
  return {
    takeIfFree: slots.takeIfAvailable(1),
    release: Effect.asVoid(slots.release(1)),
    without: (effect) =>
      Effect.acquireUseRelease(
        slots.release(1),
        () => effect,
        () => slots.take(1)
      )
  }
}
