/** Lists the nodes from their records on the bus. */
import { Effect, Layer } from "effect"
import { errorReason } from "../../domain/Reason.ts"
import { NatsNodes } from "../../../nats/NatsNodes.ts"
import { readDetails, toVersion } from "./NatsPresence.ts"
import { Nodes, NodesError } from "./Nodes.ts"

export const layer = Layer.effect(
  Nodes,
  Effect.map(NatsNodes, ({ list }) =>
    Nodes.of({
      list: Effect.mapBoth(list, {
        onFailure: (error) => new NodesError({ why: errorReason(error) }),
        onSuccess: (found) =>
          found.map((node) => {
            const { startedAt } = node
            const { actors, lagMillis, lastError, memoryBytes, refused, slots } = readDetails(node)
            return { ...toVersion(node), startedAt, slots, actors, memoryBytes, lagMillis, lastError, refused }
          })
      })
    })
  )
)
