/** Cancellations between nodes: every node hears of all, and tells the worker that has the entry. What is not heard stands in the queue. */
import { Effect, Layer, Schema } from "effect"
import { NatsEvents } from "../../nats/NatsEvents.ts"
import { Cancellations, makeListeners } from "./Cancellations.ts"

const topic = "cancellations"
const Told = Schema.Struct({ entryId: Schema.String, reason: Schema.String })
const decode = Schema.decodeUnknownSync(Told)

export const layer = Layer.effect(
  Cancellations,
  Effect.gen(function* () {
    const events = yield* NatsEvents
    const { listen, told } = makeListeners()
    yield* events.listen(topic, (value) => {
      const { entryId, reason } = decode(value)
      told(entryId, reason)
    })
    return Cancellations.of({
      listen,
      tell: (entryId, reason) => Effect.ignore(events.publish(topic, { entryId, reason }), { log: "Debug" })
    })
  })
)
