/** Publishes the record of a node on the bus while it runs: its roles, its version, its review slots and its number of actors. */
import { Clock, Effect, Layer } from "effect"
import { Sharding } from "effect/cluster"
import packageJson from "../../package.json" with { type: "json" }
import { NatsNodes } from "../../nats/NatsNodes.ts"
import type { NodeRecord } from "../../nats/NatsNodes.ts"
import { ConfigStore } from "../config/ConfigStore.ts"
import { NodeIdentity } from "../domain/NodeIdentity.ts"
import type { Role } from "../domain/Role.ts"

const countInterval = "5 seconds"

/** `owner` distinguishes this process from another one of the same name. */
const detailsOf = Effect.fnUntraced(function* (roles: ReadonlySet<Role>) {
  const { owner } = yield* NodeIdentity
  const { workers } = (yield* ConfigStore).current().document.queue
  return { owner, slots: roles.has("executor") ? workers.concurrency : 0 }
})

const countOf = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined)

/** Returns what a node published about its work; undefined where it published nothing readable. */
export const readDetails = ({ more }: NodeRecord) => ({
  slots: countOf(more["slots"]),
  actors: countOf(more["actors"])
})

/** Lists this node until its scope closes. */
export const presence = (roles: ReadonlySet<Role>) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { name, owner } = yield* NodeIdentity
      const details = yield* detailsOf(roles)
      const startedAt = yield* Clock.currentTimeMillis
      const more = { ...details, actors: 0 }
      return NatsNodes.layer({ name, roles: [...roles], version: packageJson.version, startedAt, more }, owner)
    })
  )

/** Publishes the number of this node's actors whenever it has changed. */
export const actorCount = (roles: ReadonlySet<Role>) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const nodes = yield* NatsNodes
      const sharding = yield* Sharding.Sharding
      const details = yield* detailsOf(roles)
      let published = 0
      const publish = Effect.gen(function* () {
        const actors = yield* sharding.activeEntityCount
        if (actors === published) return
        yield* nodes.update({ ...details, actors })
        published = actors
      })
      const tolerant = Effect.ignore(publish, { log: "Debug" })
      yield* Effect.forkScoped(Effect.forever(Effect.andThen(tolerant, Effect.sleep(countInterval))))
    })
  )
