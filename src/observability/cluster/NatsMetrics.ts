/** Measures the bus and its nodes periodically. */
import { Effect, Layer, Metric, Schedule } from "effect"
import { NatsConnection } from "../../../nats/NatsConnection.ts"
import { NatsNodes } from "../../../nats/NatsNodes.ts"
import * as Metrics from "../Metrics.ts"

const every = "10 seconds"

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const connection = yield* NatsConnection
    const nodes = yield* NatsNodes
    const seen = new Set<string>()
    const measure = Effect.gen(function* () {
      yield* Metric.update(Metrics.busRoundTrip, (yield* connection.roundTrip) / 1000)
      const roles = (yield* nodes.list).flatMap((node) => node.roles)
      for (const role of roles) seen.add(role)
      // A role without a node is reported as zero.
      for (const role of seen) {
        const playing = roles.filter((one) => one === role).length
        yield* Metric.update(Metric.withAttributes(Metrics.nodes, { role }), playing)
      }
    })
    yield* measure.pipe(
      Effect.ignore({ log: "Debug", message: "The bus could not be measured" }),
      Effect.repeat(Schedule.spaced(every)),
      Effect.forkScoped
    )
  })
)
