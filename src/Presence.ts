/** What this node tells of itself on the bus, for as long as it works. Wiring only. */
import { Effect, Layer } from "effect"
import { Sharding } from "effect/cluster"
import { NatsNodes } from "../nats/NatsNodes.ts"
import type { Role } from "./cli/Roles.ts"
import { ConfigStore } from "./config/ConfigStore.ts"
import { NodeIdentity } from "./domain/NodeIdentity.ts"
import packageJson from "../package.json" with { type: "json" }

const countEvery = "5 seconds"

/** `owner` tells this process from another one of the same name (NatsLiveNodes.ts). */
const moreOf = Effect.fnUntraced(function* (roles: ReadonlySet<Role>) {
  const { owner } = yield* NodeIdentity
  const { workers } = (yield* ConfigStore).current().document.queue
  return { owner, slots: roles.has("executor") ? workers.concurrency : 0 }
})

export const presence = (roles: ReadonlySet<Role>) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { name } = yield* NodeIdentity
      const more = yield* moreOf(roles)
      return NatsNodes.layer({
        name,
        roles: [...roles],
        version: packageJson.version,
        startedAt: Date.now(),
        more: { ...more, actors: 0 }
      })
    })
  )

/** Tells how many actors are awake here. */
export const awake = (roles: ReadonlySet<Role>) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const nodes = yield* NatsNodes
      const sharding = yield* Sharding.Sharding
      const more = yield* moreOf(roles)
      let told = 0
      const count = Effect.gen(function* () {
        const actors = yield* sharding.activeEntityCount
        if (actors === told) return
        yield* nodes.tell({ ...more, actors })
        told = actors
      })
      const ignoring = Effect.ignore(count, { log: "Debug" })
      yield* Effect.forkScoped(Effect.forever(Effect.andThen(ignoring, Effect.sleep(countEvery))))
    })
  )
