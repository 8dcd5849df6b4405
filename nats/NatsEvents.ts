/**
 * Sends events to current listeners on core subjects: small, at most once, lost while NATS is unavailable. Data that must not be lost is in
 * a store; an event only triggers a read.
 */
import { Context, Effect, Layer, Stream, Queue } from "effect"
import type { Scope } from "effect"
import { NatsConnection } from "./NatsConnection.ts"
import type { NatsError } from "./NatsError.ts"
import { toNatsError } from "./NatsError.ts"
import { eventSubject } from "./NatsSubjects.ts"

/** Maximum size of an event in bytes. Larger data belongs into a store. */
const maxEventBytes = 64 * 1024

/** Maximum number of unread events of one listener. The oldest are dropped. */
const maxUnread = 4096

export class NatsEvents extends Context.Service<
  NatsEvents,
  {
    /** Encodes `value` as JSON. Returns when it is passed to the connection. */
    readonly publish: (topic: string, value: unknown) => Effect.Effect<void, NatsError>
    /**
     * Calls the handler for every event of the topic, decoded from JSON, while the scope is open. The subscription is active when this
     * returns.
     */
    readonly listen: (topic: string, receive: (value: unknown) => void) => Effect.Effect<void, NatsError, Scope.Scope>
    /** Emits the events of a topic and never ends. */
    readonly stream: (topic: string) => Stream.Stream<unknown, NatsError>
  }
>()("aicr/nats/NatsEvents") {
  static readonly layer = Layer.effect(
    NatsEvents,
    Effect.gen(function* () {
      const { raw, prefix } = yield* NatsConnection
      const log = Effect.runForkWith(yield* Effect.context<never>())
      const listen = (topic: string, receive: (value: unknown) => void) =>
        Effect.gen(function* () {
          yield* Effect.acquireRelease(
            Effect.try({
              try: () =>
                raw.subscribe(eventSubject(prefix, topic), {
                  callback: (error, message) => {
                    if (error !== null)
                      return void log(
                        Effect.logWarning("NATS subscription error", {
                          topic,
                          error: toNatsError(`events ${topic}`, error).message
                        })
                      )
                    try {
                      receive(message.json<unknown>())
                    } catch (cause) {
                      log(Effect.logWarning("NATS event could not be decoded", { topic, error: String(cause) }))
                    }
                  }
                }),
              catch: (cause) => toNatsError(`events ${topic}`, cause)
            }),
            (subscription) => Effect.sync(() => subscription.unsubscribe())
          )
          // The flush confirms that the server has the subscription. While NATS is unavailable it is sent with the next connection.
          yield* Effect.ignore(
            Effect.timeout(
              Effect.promise(() => raw.flush().catch(() => undefined)),
              500
            )
          )
        })
      return NatsEvents.of({
        publish: (topic, value) =>
          Effect.try({
            try: () => {
              const bytes = new TextEncoder().encode(JSON.stringify(value))
              if (bytes.length > maxEventBytes) throw new Error(`${bytes.length} bytes; at most ${maxEventBytes}`)
              raw.publish(eventSubject(prefix, topic), bytes)
            },
            catch: (cause) => toNatsError(`event ${topic}`, cause)
          }),
        listen,
        stream: (topic) =>
          Stream.callback<unknown, NatsError>(
            (queue) =>
              listen(topic, (value) => {
                Queue.offerUnsafe(queue, value)
              }),
            { bufferSize: maxUnread, strategy: "sliding" }
          )
      })
    })
  )
}
