/** Repeats the start of a node whose server disconnects after the start has waited for it. The next attempt waits again. Wiring only. */
import { Effect, Exit, Layer, Predicate, Schedule, Scope } from "effect"
import type { NatsError } from "../../nats/NatsError.ts"
import { StoreError } from "../database/StoreError.ts"
import { AwaitedServers } from "../ingress/AwaitedServers.ts"
import { QueueError } from "../queue/Queue.ts"

const pause = "500 millis"

/** Builds the layer again as long as a server disconnects while it is built. Each attempt ends what the previous one has opened. */
export const repeatStart = <A, E, R>(start: Layer.Layer<A, E, R>) =>
  Layer.effectContext(
    Effect.gen(function* () {
      const awaited = yield* AwaitedServers
      const parent = yield* Effect.scope
      const attempt = Effect.suspend(() => {
        const scope = Scope.forkUnsafe(parent)
        return Layer.buildWithScope(Layer.fresh(start), scope).pipe(
          Effect.onExit((exit) => (Exit.isFailure(exit) ? Scope.close(scope, exit) : Effect.void))
        )
      })
      return yield* attempt.pipe(
        Effect.tapError((error) => {
          const failed = findDisconnected(error)
          return failed === undefined ? Effect.void : awaited.of(failed.server).failed(failed.message)
        }),
        Effect.retry({ while: (error) => findDisconnected(error) !== undefined, schedule: Schedule.spaced(pause) })
      )
    })
  )

/** Returns the server whose disconnection is the cause of an error. */
const findDisconnected = (error: unknown): { readonly server: string; readonly message: string } | undefined => {
  if (isNatsError(error)) return error.reason === "unavailable" ? { server: "nats", message: error.message } : undefined
  if (!(error instanceof StoreError || error instanceof QueueError)) return undefined
  const { disconnected, message } = error
  return disconnected === undefined ? undefined : { server: disconnected, message }
}

/** Compares the tag, because a single process does not load the NATS clients. */
const isNatsError = (error: unknown): error is NatsError => Predicate.isTagged(error, "NatsError")
