/**
 * Reports whether the runner of this node has the lease that its actors need. A service of its own, because the HTTP server of a node
 * starts and ends independently of its runner.
 */
import { Context, Effect, Layer } from "effect"
import { NatsConnection } from "./NatsConnection.ts"
import { NatsError } from "./NatsError.ts"
import { NatsRunnerLease } from "./NatsRunnerStorage.ts"

/** Time without a lease, although NATS is connected, after which only a restart of the node may help. */
const stuckMillis = 60_000

export class NatsLockHealth extends Context.Service<
  NatsLockHealth,
  {
    /** Fails while the runner of this node has no valid lease, and therefore no actors. Succeeds on a node without a runner. */
    readonly isHeld: Effect.Effect<void, NatsError>
    /** Fails if the runner has had no valid lease for a minute although NATS is connected. */
    readonly isAlive: Effect.Effect<void, NatsError>
    /** Reports the lease of this runner from now on. */
    readonly observe: (lease: NatsRunnerLease["Service"]) => Effect.Effect<void>
  }
>()("aicr/nats/NatsLockHealth") {
  static readonly layer = Layer.effect(
    NatsLockHealth,
    Effect.gen(function* () {
      const connection = yield* NatsConnection
      let observed: NatsRunnerLease["Service"] | undefined
      let connectedAt = performance.now()
      yield* connection.onStatus(() => {
        connectedAt = performance.now()
      })
      return NatsLockHealth.of({
        isHeld: Effect.suspend(() =>
          Effect.flatMap(observed?.isHeld ?? Effect.succeed(true), (isHeld) => (isHeld ? Effect.void : noLease))
        ),
        isAlive: Effect.gen(function* () {
          const { connected } = yield* connection.status
          if (observed === undefined || !connected || performance.now() - connectedAt < stuckMillis) return
          if ((yield* observed.millisWithout) > stuckMillis) return yield* noLease
        }),
        observe: (lease) => Effect.sync(() => void (observed = lease))
      })
    })
  )
}

const noLease = new NatsError({
  reason: "unavailable",
  message: "this node has no valid lease for its actors; check JetStream of the NATS server"
})

/** Observes the runner of the same layer. */
export const observeRunner = Layer.effectDiscard(
  Effect.gen(function* () {
    yield* (yield* NatsLockHealth).observe(yield* NatsRunnerLease)
  })
)
