/**
 * Work for whichever node is free, over a JetStream stream with file storage: it survives nodes and restarts of the server. A key has at
 * most one message waiting or taken. A message is taken by one taker; when that neither finishes it nor gives it back for some
 * seconds, the next one gets it, and a server that died suddenly may bring back what was just done. So a message may be worked on
 * twice, and the work must bear it.
 *
 * Nothing is fetched ahead: a node asks for one message when it is free for one.
 */
import { AckPolicy, DeliverPolicy, JetStreamApiError } from "@nats-io/jetstream"
import { createInbox } from "@nats-io/transport-node"
import type { Msg } from "@nats-io/transport-node"
import { Duration, Effect } from "effect"
import { NatsConnection, answerWithinMillis } from "./NatsConnection.ts"
import { NatsError, attempt, toNatsError } from "./NatsError.ts"
import { ensure, patiently, streamName } from "./NatsStreams.ts"
import type { StreamPlan } from "./NatsStreams.ts"
import { workSubject } from "./NatsSubjects.ts"

export interface Work {
  readonly key: string
  readonly payload: string
  /** It is done, or whoever does it has noted so elsewhere. The server has confirmed when this answers. */
  readonly done: Effect.Effect<void, NatsError>
  /** Somebody else takes it, at once. */
  readonly again: Effect.Effect<void>
}

export interface NatsWorkQueue {
  /** False when the key has a message already. */
  readonly offer: (key: string, payload: string) => Effect.Effect<boolean, NatsError>
  /** Waits for the next message, in order of offering, through whatever NATS does. Interruptible. */
  readonly take: Effect.Effect<Work>
  /** Messages that wait or are taken and not done. */
  readonly size: Effect.Effect<number, NatsError>
}

export interface WorkQueueOptions {
  /** Letters, digits, - and _. */
  readonly name: string
  /** How long a taker may take to finish before the next one gets the message; 5 seconds. */
  readonly doneWithin?: Duration.Input
  /** More are refused; 1 000 000. */
  readonly maxMessages?: number
}

/** Makes what it needs on the server. */
export const makeWorkQueue = Effect.fnUntraced(function* ({
  name,
  doneWithin = "5 seconds",
  maxMessages = 1_000_000
}: WorkQueueOptions): Effect.fn.Return<NatsWorkQueue, NatsError, NatsConnection> {
  const connection = yield* NatsConnection
  const { raw, jetstream, manager, prefix } = connection
  const plan = { kind: "work", name, maxMessages } as const satisfies StreamPlan
  const stream = streamName(prefix, plan)
  const what = `work queue ${name}`

  const prepare = Effect.gen(function* () {
    yield* ensure([plan])
    yield* attempt(what, () =>
      manager.consumers.add(stream, {
        durable_name: consumer,
        ack_policy: AckPolicy.Explicit,
        deliver_policy: DeliverPolicy.All,
        ack_wait: Duration.toMillis(doneWithin) * 1_000_000,
        max_deliver: -1,
        max_ack_pending: -1,
        max_waiting: 4096
      })
    ).pipe(patiently)
  }).pipe(Effect.provideService(NatsConnection, connection))
  yield* prepare

  const workOf = (message: Msg): Work => {
    const { key, payload } = decode(message)
    const reply = message.reply ?? ""
    return {
      key,
      payload,
      done: Effect.asVoid(
        attempt(`${what}: ${key}`, () => raw.request(reply, "+ACK", { timeout: answerWithinMillis }))
      ),
      again: Effect.sync(() => giveBack(message))
    }
  }
  const giveBack = (message: Msg): void => {
    if (!raw.isClosed()) message.respond("-NAK")
  }

  /** One request for one message: it, or why there is none. */
  const pull = Effect.callback<Msg | "retry" | "absent">((resume) => {
    let over = false
    const end = (result: Msg | "retry" | "absent") => {
      if (over) return
      over = true
      clearTimeout(timer)
      resume(Effect.succeed(result))
    }
    const inbox = createInbox()
    const subscription = raw.subscribe(inbox, {
      max: 1,
      callback: (error, message) => {
        const code = error === null ? (message.headers?.code ?? 0) : 409
        if (code === 0 && message.data.length > 0) {
          if (over) giveBack(message)
          else end(message)
        } else end(code === 408 ? "retry" : "absent")
      }
    })
    // The server ends a request by itself; this is for one that got lost with a connection.
    const timer = setTimeout(() => {
      subscription.unsubscribe()
      end("retry")
    }, waitMillis + answerWithinMillis)
    raw.publish(
      `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`,
      JSON.stringify({ batch: 1, expires: waitMillis * 1_000_000 }),
      { reply: inbox }
    )
    return Effect.sync(() => {
      over = true
      clearTimeout(timer)
      // Kept for a moment: a message that is already on its way is given back instead of waiting for its time.
      setTimeout(() => raw.isClosed() || subscription.unsubscribe(), 100).unref()
    })
  })

  const take: Effect.Effect<Work> = Effect.gen(function* () {
    for (;;) {
      const found = yield* Effect.raceFirst(pull, Effect.as(connection.reconnected, "retry" as const))
      if (typeof found !== "string") return workOf(found)
      if (found === "absent") {
        // The server restarts, elects, or lost the stream with its disk: make again what is missing.
        yield* Effect.catch(prepare, (error) => Effect.logDebug(error.message))
        yield* Effect.sleep("200 millis")
      }
    }
  })

  return {
    offer: (key, payload) =>
      Effect.tryPromise({
        try: () => jetstream.publish(workSubject(prefix, name, key), JSON.stringify([key, payload])),
        catch: (cause) => cause
      }).pipe(
        Effect.as(true),
        Effect.catch((cause) =>
          cause instanceof JetStreamApiError && cause.message.includes("maximum messages per subject")
            ? Effect.succeed(false)
            : Effect.fail(
                cause instanceof JetStreamApiError && cause.message.includes("maximum messages")
                  ? new NatsError({ reason: "refused", message: `${what} is full (${maxMessages} messages)` })
                  : toNatsError(`${what}: ${key}`, cause)
              )
        )
      ),
    take,
    size: Effect.map(
      attempt(what, () => manager.streams.info(stream)),
      ({ state }) => state.messages
    )
  }
})

/** One for all takers: each message goes to one of them. */
const consumer = "takers"

/** Of one request for a message; then it is asked again. */
const waitMillis = 20_000

const decode = (message: Msg): { readonly key: string; readonly payload: string } => {
  const parts: unknown = message.json()
  if (!Array.isArray(parts)) throw new Error("not a message of this work queue")
  const [key, payload] = parts
  return { key: String(key), payload: String(payload) }
}
