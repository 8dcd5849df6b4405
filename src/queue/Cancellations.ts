/**
 * Tells a worker at once that its entry is to be cancelled. What is told may be lost: the request stands in the queue
 * (Entry.cancelRequested), and the worker learns it with the next renewal of its lease at the latest.
 */
import { Context, Deferred, Effect, Layer } from "effect"
import type { Scope } from "effect"

export class Cancellations extends Context.Service<
  Cancellations,
  {
    readonly tell: (entryId: string, reason: string) => Effect.Effect<void>
    /** Completed with the reason when this entry is told to be cancelled while the scope is open. */
    readonly listen: (entryId: string) => Effect.Effect<Deferred.Deferred<string>, never, Scope.Scope>
  }
>()("aicr/queue/Cancellations") {
  /** Within one process. */
  static readonly layerMemory = Layer.sync(Cancellations, () => {
    const { listen, told } = makeListeners()
    return Cancellations.of({ listen, tell: (entryId, reason) => Effect.sync(() => told(entryId, reason)) })
  })
}

export interface Listeners {
  readonly listen: Cancellations["Service"]["listen"]
  /** Completes what the worker with this entry waits for; nothing where no worker of this process has it. */
  readonly told: (entryId: string, reason: string) => void
}

/** The workers of this process that listen, by their entry. */
export const makeListeners = (): Listeners => {
  const listening = new Map<string, Deferred.Deferred<string>>()
  return {
    told: (entryId, reason) => {
      const waiting = listening.get(entryId)
      if (waiting !== undefined) Deferred.doneUnsafe(waiting, Effect.succeed(reason))
    },
    listen: (entryId) =>
      Effect.acquireRelease(
        Effect.map(Deferred.make<string>(), (waiting) => {
          listening.set(entryId, waiting)
          return waiting
        }),
        (waiting) =>
          Effect.sync(() => {
            if (listening.get(entryId) === waiting) listening.delete(entryId)
          })
      )
  }
}
