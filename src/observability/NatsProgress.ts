/**
 * Progress from node to node: who looks at one node sees what happens on all. What is told here is heard here without the bus; an
 * event that is too large for the bus, or told while it is away, stays on its node. A node takes events off the bus while somebody
 * looks, for a review has about ten of them and every node would read them all.
 */
import { Effect, Layer, PubSub, Queue, Schema, Stream } from "effect"
import { NatsEvents } from "../../nats/NatsEvents.ts"
import { NodeIdentity } from "../domain/NodeIdentity.ts"
import { Progress, ProgressEvent } from "./Progress.ts"

const topic = "progress"
const Told = Schema.toCodecJson(Schema.Struct({ owner: Schema.String, event: ProgressEvent }))
const decode = Schema.decodeUnknownSync(Told)
const encode = Schema.encodeSync(Told)

/** Who reads the bus gets ids and counts: what a review found stays in the records. */
const withoutFindings = (event: ProgressEvent): ProgressEvent =>
  event._tag === "Analysed" ? { ...event, findings: undefined } : event

/** Waiting for a slow listener; the oldest go first. */
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
            const told = decode(value)
            if (told.owner !== owner) Queue.offerUnsafe(queue, told.event)
          })
          .pipe(Effect.ignore({ log: "Warn" })),
      { bufferSize: maxWaiting, strategy: "sliding" }
    )
    return Progress.of({
      tell: (news) =>
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
