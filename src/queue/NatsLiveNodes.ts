/**
 * Who is gone, by the list of nodes on the bus. A process is gone when it is not on the list although the bus has been steady for
 * longer than an entry lives without its node; while the bus is away, and for a while after it came back, nobody is. A process
 * that has only just started may not be on the list yet, which its owner tells: it holds the time of its start.
 */
import { Clock, Effect, Layer } from "effect"
import { NatsConnection } from "../../nats/NatsConnection.ts"
import { NatsNodes } from "../../nats/NatsNodes.ts"
import { leaseMillis } from "../../nats/NatsStreams.ts"
import { timeOf } from "../domain/Ids.ts"
import { LiveNodes } from "../domain/LiveNodes.ts"
import { NodeIdentity } from "../domain/NodeIdentity.ts"

/** From the start of a process to its first entry, and what clocks of machines differ by. */
const startGrace = 20_000

const noOne = (_owner: string): boolean => false

export const layerWith = (options: { readonly steadyMillis: number }) =>
  Layer.effect(
    LiveNodes,
    Effect.gen(function* () {
      const connection = yield* NatsConnection
      const nodes = yield* NatsNodes
      const { owner: own } = yield* NodeIdentity
      let steadySince = performance.now()
      yield* connection.onStatus(() => {
        steadySince = performance.now()
      })
      return LiveNodes.of({
        lost: Effect.gen(function* () {
          const askedAt = yield* Clock.currentTimeMillis
          const asked = yield* Effect.result(nodes.list)
          if (asked._tag === "Failure" || performance.now() - steadySince < options.steadyMillis) return noOne
          const alive = new Set(asked.success.map(({ more }) => more["owner"]))
          return (owner: string) => {
            const startedAt = timeOf(owner.slice(owner.lastIndexOf("/") + 1))
            return owner !== own && !alive.has(owner) && startedAt !== undefined && startedAt + startGrace < askedAt
          }
        })
      })
    })
  )

/** Longer than an entry lives without its node. */
export const layer = layerWith({ steadyMillis: leaseMillis * 1.5 })
