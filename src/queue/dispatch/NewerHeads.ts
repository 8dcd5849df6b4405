/**
 * Notifies reviews that a delivery named another head of their target. Notices may be lost: the review of the older head then finishes, and
 * its publication finds the newer head.
 */
import { Context, Effect, Layer, Queue } from "effect"
import type { Scope } from "effect"
import type { TargetKey } from "../../domain/Keys.ts"

export class NewerHeads extends Context.Service<
  NewerHeads,
  {
    readonly notify: (targetKey: TargetKey, head: string) => Effect.Effect<void>
    /** Waits for the next notice of this target; of several pending ones only the last is kept. */
    readonly listen: (targetKey: TargetKey) => Effect.Effect<Effect.Effect<string>, never, Scope.Scope>
  }
>()("aicr/queue/NewerHeads") {
  /** Notifies reviews of this process only. */
  static readonly layerMemory = Layer.sync(NewerHeads, () => {
    const { listen, notice } = makeHeadListeners()
    return NewerHeads.of({ listen, notify: (targetKey, head) => Effect.sync(() => notice(targetKey, head)) })
  })
}

interface HeadListeners {
  readonly listen: NewerHeads["Service"]["listen"]
  /** Does nothing if no review of this process listens for the target. */
  readonly notice: (targetKey: TargetKey, head: string) => void
}

/** Creates the listeners of this process, by target: at most one review runs per target. */
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
