/**
 * Distributes work to any free node, over a JetStream stream with file storage: it survives restarts of nodes and of the server. A key has
 * at most one message, waiting or taken. A message that its taker neither completes nor requeues for some seconds is delivered to the next
 * one, and a server that crashes may redeliver a completed message. So the work must be idempotent.
 *
 * Nothing is prefetched: a node requests one message when it has capacity.
 */
import { AckPolicy, DeliverPolicy, JetStreamApiError } from "@nats-io/jetstream"
import { createInbox } from "@nats-io/transport-node"
import type { Msg } from "@nats-io/transport-node"
import { Duration, Effect, Semaphore } from "effect"
import { NatsConnection, callTimeoutMillis } from "./NatsConnection.ts"
import { NatsError, attempt, isStreamMissing, toNatsError } from "./NatsError.ts"
import { ensure, retryUntilReady, streamName } from "./NatsStreams.ts"
import type { StreamPlan } from "./NatsStreams.ts"
import { workSubject } from "./NatsSubjects.ts"

export interface Work {
  readonly key: string
  readonly payload: string
  /** Completes the message. Succeeds when the server has confirmed. */
  readonly done: Effect.Effect<void, NatsError>
  /** Requeues the message for immediate delivery. */
  readonly again: Effect.Effect<void>
}

export interface NatsWorkQueue {
  /** Returns false if the key has a message already. */
  readonly offer: (key: string, payload: string) => Effect.Effect<boolean, NatsError>
  /** Waits for the next message, in the order of offers, through reconnects and restarts of NATS. Interruptible. */
  readonly take: Effect.Effect<Work>
  /** Number of messages that wait or are taken. */
  readonly size: Effect.Effect<number, NatsError>
}

type WorkPlan = Extract<StreamPlan, { readonly kind: "work" }>

interface WorkQueueOptions {
  /** Name of letters, digits, - and _. */
  readonly name: string
  /** Time for completing a message before it is delivered to the next taker; 5 seconds by default. */
  readonly doneWithin?: Duration.Input
  /** Maximum number of messages; 1 000 000 by default. More are refused. */
  readonly maxMessages?: number
}

type Message = { readonly _tag: "Message"; readonly message: Msg }
/** Reason for a request without a message: it timed out, or the server currently has no such consumer. */
type Pulled = Message | { readonly _tag: "Retry" } | { readonly _tag: "Absent" }

const requeue = (raw: NatsConnection["Service"]["raw"], message: Msg): void => {
  if (!raw.isClosed()) message.respond("-NAK")
}

/** Requests one message. A message that arrives after an interrupt is requeued. */
const pull = (raw: NatsConnection["Service"]["raw"], stream: string): Effect.Effect<Pulled> =>
  Effect.callback((resume) => {
    let isOver = false
    const end = (result: Pulled) => {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      resume(Effect.succeed(result))
    }
    const inbox = createInbox()
    const subscription = raw.subscribe(inbox, {
      max: 1,
      callback: (error, message) => {
        const code = error === null ? (message.headers?.code ?? 0) : 409
        if (code === 0 && message.data.length > 0) {
          if (isOver) requeue(raw, message)
          else end({ _tag: "Message", message })
        } else end({ _tag: code === 408 ? "Retry" : "Absent" })
      }
    })
    // The server times a request out, unless it was lost with a connection, or has no consumer.
    const timer = setTimeout(() => {
      subscription.unsubscribe()
      end({ _tag: "Absent" })
    }, waitMillis + callTimeoutMillis)
    raw.publish(
      `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`,
      JSON.stringify({ batch: 1, expires: waitMillis * 1_000_000 }),
      { reply: inbox }
    )
    return Effect.sync(() => {
      isOver = true
      clearTimeout(timer)
      // The subscription stays open briefly, so that a message on its way is requeued immediately.
      setTimeout(() => raw.isClosed() || subscription.unsubscribe(), 100).unref()
    })
  })

/** Creates the stream and its consumer if they are missing. */
const prepareQueue = Effect.fnUntraced(function* (plan: WorkPlan, ackWaitMillis: number) {
  const { manager, prefix } = yield* NatsConnection
  yield* ensure([plan])
  yield* attempt(`work queue ${plan.name}`, () =>
    manager.consumers.add(streamName(prefix, plan), {
      durable_name: consumer,
      ack_policy: AckPolicy.Explicit,
      deliver_policy: DeliverPolicy.All,
      ack_wait: ackWaitMillis * 1_000_000,
      max_deliver: -1,
      max_ack_pending: -1,
      max_waiting: 4096
    })
  ).pipe(retryUntilReady)
})

const toWork = (raw: NatsConnection["Service"]["raw"], what: string, message: Msg): Work => {
  const { key, payload } = decode(message)
  const reply = message.reply ?? ""
  return {
    key,
    payload,
    done: Effect.asVoid(attempt(`${what}: ${key}`, () => raw.request(reply, "+ACK", { timeout: callTimeoutMillis }))),
    again: Effect.sync(() => requeue(raw, message))
  }
}

const isRejected = (cause: unknown, why: string): boolean =>
  cause instanceof JetStreamApiError && cause.message.includes(why)

const offer = (
  { jetstream, prefix }: NatsConnection["Service"],
  { name, maxMessages }: WorkPlan,
  key: string,
  payload: string,
  prepare: Effect.Effect<void, NatsError>
): Effect.Effect<boolean, NatsError> => {
  const publish = Effect.tryPromise({
    try: () => jetstream.publish(workSubject(prefix, name, key), JSON.stringify([key, payload])),
    catch: (cause) => cause
  })
  return publish.pipe(
    // The server lost the stream with its disk.
    Effect.catchIf(isStreamMissing, () => Effect.andThen(prepare, publish)),
    Effect.as(true),
    Effect.catch((cause) => {
      if (isRejected(cause, "maximum messages per subject")) return Effect.succeed(false)
      const what = `work queue ${name}`
      return Effect.fail(
        isRejected(cause, "maximum messages")
          ? new NatsError({ reason: "refused", message: `${what} is full (${maxMessages} messages)` })
          : toNatsError(`${what}: ${key}`, cause)
      )
    })
  )
}

/** Creates the work queue and its objects on the server. */
export const makeWorkQueue = Effect.fnUntraced(function* ({
  name,
  doneWithin = "5 seconds",
  maxMessages = 1_000_000
}: WorkQueueOptions): Effect.fn.Return<NatsWorkQueue, NatsError, NatsConnection> {
  const connection = yield* NatsConnection
  const { raw, manager, prefix } = connection
  const plan: WorkPlan = { kind: "work", name, maxMessages }
  const stream = streamName(prefix, plan)
  const what = `work queue ${name}`
  const preparing = Semaphore.makeUnsafe(1)
  let preparedAt = 0
  /** Takers that find the queue missing together prepare it once. */
  const prepareSince = (since: number) =>
    Effect.suspend(() =>
      preparedAt > since
        ? Effect.void
        : Effect.map(prepareQueue(plan, Duration.toMillis(doneWithin)), () => void (preparedAt = performance.now()))
    ).pipe(preparing.withPermits(1), Effect.provideService(NatsConnection, connection))
  yield* prepareSince(performance.now())

  const take: Effect.Effect<Work> = Effect.gen(function* () {
    for (;;) {
      const since = performance.now()
      // A server that lost the stream with its disk does not respond to the request.
      const reconnected = Effect.as(connection.reconnected, { _tag: "Absent" } as const)
      const pulled = yield* Effect.raceFirst(pull(raw, stream), reconnected)
      if (pulled._tag === "Message") return toWork(raw, what, pulled.message)
      if (pulled._tag === "Absent") {
        // The server restarts, elects a leader, or lost the stream: missing objects are created again.
        yield* Effect.catch(prepareSince(since), (error) =>
          Effect.logDebug("work stream could not be created", { error: error.message })
        )
        yield* Effect.sleep("200 millis")
      }
    }
  })

  return {
    offer: (key, payload) =>
      Effect.suspend(() => offer(connection, plan, key, payload, prepareSince(performance.now()))),
    take,
    size: Effect.map(
      attempt(what, () => manager.streams.info(stream)),
      ({ state }) => state.messages
    )
  }
})

/** Shared by all takers: each message goes to one of them. */
const consumer = "takers"

/** Duration of one request for a message, after which the next one is sent. */
const waitMillis = 20_000

const decode = (message: Msg): { readonly key: string; readonly payload: string } => {
  const parts: unknown = message.json()
  if (!Array.isArray(parts)) throw new Error("not a message of this work queue")
  const [key, payload] = parts
  return { key: String(key), payload: String(payload) }
}
