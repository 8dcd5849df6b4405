/**
 * Notifies a worker that its entry is to be cancelled. Notifications may be lost: the queue holds the request (Entry.cancelRequested), and
 * the worker sees it with the next renewal of its lease at the latest.
 */
import { Context, Deferred, Effect, Layer } from "effect"
import type { Scope } from "effect"
import type { Reason } from "../../domain/Reason.ts"

export class Cancellations extends Context.Service<
  Cancellations,
  {
    readonly notify: (entryId: string, reason: Reason) => Effect.Effect<void>
    /** Returns a deferred that is completed with the reason when the entry is cancelled while the scope is open. */
    readonly listen: (entryId: string) => Effect.Effect<Deferred.Deferred<Reason>, never, Scope.Scope>
  }
>()("aicr/queue/Cancellations") {
  /** Notifies workers of this process only. */
  static readonly layerMemory = Layer.sync(Cancellations, () => {
    const { listen, notify } = makeListeners()
    return Cancellations.of({ listen, notify: (entryId, reason) => Effect.sync(() => notify(entryId, reason)) })
  })
}

export interface Listeners {
  readonly listen: Cancellations["Service"]["listen"]
  /** Completes the deferred of the worker with this entry; does nothing if no worker of this process has it. */
  readonly notify: (entryId: string, reason: Reason) => void
}

/** Creates the listeners of this process, by entry. */
export const makeListeners = (): Listeners => {
  const listening = new Map<string, Deferred.Deferred<Reason>>()
  return {
    notify: (entryId, reason) => {
      const waiting = listening.get(entryId)
      if (waiting !== undefined) Deferred.doneUnsafe(waiting, Effect.succeed(reason))
    },
    listen: (entryId) =>
      Effect.acquireRelease(
        Effect.map(Deferred.make<Reason>(), (waiting) => {
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
