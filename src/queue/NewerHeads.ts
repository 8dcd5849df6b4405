/**
 * Notices that a delivery named another head of a target. A notice may be lost: the review of the older head then runs to its end, and its
 * publication finds the newer head.
 */
import { Context, Effect, Layer, Queue } from "effect"
import type { Scope } from "effect"

export class NewerHeads extends Context.Service<
  NewerHeads,
  {
    readonly notify: (targetKey: string, head: string) => Effect.Effect<void>
    /** Waits for the next notice of this target; of several that were not taken yet only the last is kept. */
    readonly listen: (targetKey: string) => Effect.Effect<Effect.Effect<string>, never, Scope.Scope>
  }
>()("aicr/queue/NewerHeads") {
  /** Within one process. */
  static readonly layerMemory = Layer.sync(NewerHeads, () => {
    const { listen, notice } = makeHeadListeners()
    return NewerHeads.of({ listen, notify: (targetKey, head) => Effect.sync(() => notice(targetKey, head)) })
  })
}

export interface HeadListeners {
  readonly listen: NewerHeads["Service"]["listen"]
  /** Does nothing where no review of this process listens for the target. */
  readonly notice: (targetKey: string, head: string) => void
}

/** The reviews of this process that listen, by their target: at most one runs per target. */
export const makeHeadListeners = (): HeadListeners => {
  const listening = new Map<string, Queue.Queue<string>>()
  return {
    notice: (targetKey, head) => {
      const heads = listening.get(targetKey)
      if (heads !== undefined) Queue.offerUnsafe(heads, head)
    },
    listen: (targetKey) =>
      Effect.acquireRelease(
        Effect.map(Queue.sliding<string>(1), (heads) => {
          listening.set(targetKey, heads)
          return heads
        }),
        (heads) =>
          Effect.sync(() => {
            if (listening.get(targetKey) === heads) listening.delete(targetKey)
          })
      ).pipe(Effect.map((heads) => Queue.take(heads)))
  }
}
