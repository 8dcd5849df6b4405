/** Ends the leases of runners whose process has ended, so that their actors move before the leases expire. */
import { Effect, Layer } from "effect"
import { NatsRunnerLease } from "../../../nats/NatsRunnerStorage.ts"
import { LiveNodes } from "../../domain/LiveNodes.ts"

/** Pause before the leases of further processes are ended, and before a failed attempt is repeated. */
const pause = "500 millis"

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const lease = yield* NatsRunnerLease
    const live = yield* LiveNodes
    const evicted = new Set<string>()
    const evict = Effect.gen(function* () {
      const ended = [...(yield* live.gone)].filter((owner) => !evicted.has(owner))
      const incarnations = ended.map((owner) => owner.slice(owner.lastIndexOf("/") + 1))
      yield* lease.evict((address) => incarnations.some((incarnation) => address.includes(incarnation)))
      for (const owner of ended) evicted.add(owner)
    }).pipe(Effect.catch((error) => Effect.logDebug("leases not ended, retry scheduled", { error: error.message })))
    yield* Effect.suspend(() => live.goneBeyond(evicted.size)).pipe(
      Effect.andThen(evict),
      Effect.andThen(Effect.sleep(pause)),
      Effect.forever,
      Effect.forkScoped
    )
  })
)
