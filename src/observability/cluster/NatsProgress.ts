/**
 * Sends progress between nodes: a viewer of one node sees the events of all. Local events reach local viewers without the bus; an event
 * that is too large for the bus, or published while it is disconnected, stays on its node. A node subscribes only while it has a viewer,
 * because a review has about ten events and every node would read them all.
 */
import { Effect, Layer, PubSub, Queue, Schema, Stream } from "effect"
import { NatsEvents } from "../../../nats/NatsEvents.ts"
import { NodeIdentity } from "../../domain/NodeIdentity.ts"
import { Progress, ProgressEvent } from "../Progress.ts"

const topic = "progress"
const ProgressMessage = Schema.toCodecJson(Schema.Struct({ owner: Schema.String, event: ProgressEvent }))
const decode = Schema.decodeUnknownSync(ProgressMessage)
const encode = Schema.encodeSync(ProgressMessage)

/** Returns the event without findings. The bus only carries ids and counts; findings are in the records. */
const withoutFindings = (event: ProgressEvent): ProgressEvent =>
  event._tag === "Analysed" ? { ...event, findings: undefined } : event

/** Events that wait for a slow listener; the oldest are dropped. */
const maxWaiting = 1024

export const layer = Layer.effect(
  Progress,
  Effect.gen(function* () {
    const events = yield* NatsEvents
    const { owner } = yield* NodeIdentity
    const hub = yield* PubSub.sliding<ProgressEvent>(maxWaiting)
    const ofOthers = Stream.callback<ProgressEvent>(
      (queue) =>
        events
          .listen(topic, (value) => {
            const message = decode(value)
            if (message.owner !== owner) Queue.offerUnsafe(queue, message.event)
          })
          .pipe(Effect.ignore({ log: "Warn" })),
      { bufferSize: maxWaiting, strategy: "sliding" }
    )
    return Progress.of({
      publish: (news) =>
        Effect.clockWith((clock) => {
          const event = { ...news, at: clock.currentTimeMillisUnsafe() }
          return Effect.andThen(
            PubSub.publish(hub, event),
            Effect.ignore(events.publish(topic, encode({ owner, event: withoutFindings(event) })), { log: "Debug" })
          )
        }),
      events: Stream.merge(Stream.fromPubSub(hub), ofOthers)
    })
  })
)
