/**
 * Sends cancellations between nodes: every node receives all and notifies the worker that has the entry. The queue holds requests that are
 * lost.
 */
import { Effect, Layer, Schema } from "effect"
import { NatsEvents } from "../../../nats/NatsEvents.ts"
import { Reason } from "../../domain/Reason.ts"
import { Cancellations, makeListeners } from "./Cancellations.ts"

const topic = "cancellations"
const CancellationMessage = Schema.Struct({ entryId: Schema.String, reason: Reason })
const decode = Schema.decodeUnknownSync(CancellationMessage)

export const layer = Layer.effect(
  Cancellations,
  Effect.gen(function* () {
    const events = yield* NatsEvents
    const { listen, notify } = makeListeners()
    yield* events.listen(topic, (value) => {
      const { entryId, reason } = decode(value)
      notify(entryId, reason)
    })
    return Cancellations.of({
      listen,
      notify: (entryId, reason) => Effect.ignore(events.publish(topic, { entryId, reason }), { log: "Debug" })
    })
  })
)
