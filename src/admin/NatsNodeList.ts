/** Lists the nodes from their records on the bus. */
import { Effect, Layer } from "effect"
import { NatsNodes } from "../../nats/NatsNodes.ts"
import { readDetails } from "./NatsPresence.ts"
import { Nodes, NodesError } from "./Nodes.ts"

export const layer = Layer.effect(
  Nodes,
  Effect.map(NatsNodes, ({ list }) =>
    Nodes.of({
      list: Effect.mapBoth(list, {
        onFailure: ({ message }) => new NodesError({ message }),
        onSuccess: (found) =>
          found.map((node) => {
            const { name, roles, startedAt, version } = node
            return { name, roles, startedAt, version, actors: readDetails(node).actors }
          })
      })
    })
  )
)
