/** Notifies other nodes of a replaced configuration, which then poll their sources immediately. */
import { Effect, Layer, Schema, Stream } from "effect"
import { NatsEvents } from "../../../nats/NatsEvents.ts"
import { ConfigStore } from "../ConfigStore.ts"

const topic = "config"
const HeadMessage = Schema.Struct({ hash: Schema.String })
const decode = Schema.decodeUnknownSync(HeadMessage)

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const config = yield* ConfigStore
    const events = yield* NatsEvents
    const run = Effect.runForkWith(yield* Effect.context<never>())
    yield* events.listen(topic, (value) => {
      if (decode(value).hash === config.current().hash) return
      run(Effect.andThen(config.adoptHead() ?? Effect.void, config.reload))
    })
    yield* config.changes.pipe(
      Stream.runForEach(({ hash }) => Effect.ignore(events.publish(topic, { hash }), { log: "Debug" })),
      Effect.forkScoped
    )
  })
)
