/**
 * What has to hold at the moment of a write.
 *
 * `BeforeWrite`: of a content write. Writes of one token wait for their turn, and what was true before the wait
 * may not be true after it: the guard runs within the turn, right before the request. When it fails nothing is sent and its
 * error is the write's.
 */
import { Context, Effect } from "effect"
import type { ForgeError } from "./Forge.ts"

export const BeforeWrite = Context.Reference<Effect.Effect<void, ForgeError>>("aicr/forge/BeforeWrite", {
  defaultValue: () => Effect.void
})

/**
 * Of every write: whether the writer is still the one to do it. Asked last, so that a process that was frozen in a queue for its
 * turn finds out that somebody else has written meanwhile.
 */
export const WriteFence = Context.Reference<Effect.Effect<void, ForgeError>>("aicr/forge/WriteFence", {
  defaultValue: () => Effect.void
})

/** An answer of the fence that took longer says nothing about now. */
const fenceHolds = 3000

/** Asks the fence until its answer is fresh. */
export const askFence: Effect.Effect<void, ForgeError> = Effect.gen(function* () {
  const fence = yield* WriteFence
  let askedAt: number
  do {
    askedAt = performance.now()
    yield* fence
  } while (performance.now() - askedAt > fenceHolds)
})
