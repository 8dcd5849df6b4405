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
    const listening = new Map<string, Deferred.Deferred<string>>()
    return Cancellations.of({
      tell: (entryId, reason) =>
        Effect.suspend(() => {
          const told = listening.get(entryId)
          return told === undefined ? Effect.void : Effect.asVoid(Deferred.succeed(told, reason))
        }),
      listen: (entryId) =>
        Effect.acquireRelease(
          Effect.map(Deferred.make<string>(), (told) => {
            listening.set(entryId, told)
            return told
          }),
          (told) =>
            Effect.sync(() => {
              if (listening.get(entryId) === told) listening.delete(entryId)
            })
        )
    })
  })
}
