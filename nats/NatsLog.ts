/**
 * A log that many nodes write and read, over a JetStream stream with one subject. It is the basis of state that each node holds in memory.
 * An append names the last message that its writer has seen (a compare-and-set). Messages are read by their sequence from the stream's
 * leader, so that a node needs no consumer, whatever the log holds. The owner of the state removes the beginning of the log when it is no
 * longer needed.
 */
import { JetStreamApiCodes, JetStreamApiError } from "@nats-io/jetstream"
import type { StoredMsg } from "@nats-io/jetstream"
import { Effect } from "effect"
import { NatsConnection } from "./NatsConnection.ts"
import { NatsError } from "./NatsError.ts"
import { ensure, recreating, streamName } from "./NatsStreams.ts"
import type { StreamPlan } from "./NatsStreams.ts"
import { logSubject } from "./NatsSubjects.ts"

export interface LogMessage {
  readonly sequence: number
  readonly payload: Uint8Array
}

export interface NatsLog {
  /**
   * Returns the sequence of the message. Fails with `conflict` if `after` is not the last one; after `unavailable` the append may still
   * happen.
   */
  readonly append: (payload: Uint8Array, after: number) => Effect.Effect<number, NatsError>
  /** Returns the sequence of the last message, 0 if the log never had one, and the creation time of the log, which identifies it. */
  readonly last: Effect.Effect<{ readonly sequence: number; readonly created: string }, NatsError>
  /** Returns the messages of `count` sequences, without those that are missing. Returns the next message if all are missing. */
  readonly read: (first: number, count: number) => Effect.Effect<ReadonlyArray<LogMessage>, NatsError>
  /** Removes all messages before `sequence`. */
  readonly removeBefore: (sequence: number) => Effect.Effect<void, NatsError>
}

/** Creates the log if it does not exist, also when the server loses it later. */
export const makeLog = Effect.fnUntraced(function* (
  name: string
): Effect.fn.Return<NatsLog, NatsError, NatsConnection> {
  const connection = yield* NatsConnection
  const { jetstream, manager, prefix, status } = connection
  const plan = { kind: "log", name } as const satisfies StreamPlan
  yield* ensure([plan])
  const stream = streamName(prefix, plan)
  const subject = logSubject(prefix, name)
  const what = `log ${name}`
  const attempt = recreating(connection, plan)

  /** Fails while disconnected. The client would otherwise send a message after the reconnect, long after its caller saw the failure. */
  const connected = Effect.flatMap(status, (now) =>
    now.connected
      ? Effect.void
      : Effect.fail(new NatsError({ reason: "unavailable", message: `NATS at ${now.server} is disconnected` }))
  )
  const whileConnected = <A>(call: () => Promise<A>) => Effect.andThen(connected, attempt(what, call))
  const get = (query: { readonly seq: number }) => whileFound(() => manager.streams.getMessage(stream, query))

  return {
    append: (payload, after) =>
      whileConnected(
        async () => (await jetstream.publish(subject, payload, { expect: { lastSubjectSequence: after } })).seq
      ),
    last: whileConnected(async () => {
      const { created, state } = await manager.streams.info(stream)
      return { sequence: state.last_seq, created }
    }),
    read: (first, count) =>
      whileConnected(async () => {
        const found = await Promise.all(Array.from({ length: count }, (_, index) => get({ seq: first + index })))
        const messages = found.flatMap(toMessages)
        if (messages.length > 0) return messages
        // The type of the client lacks the subject, with which the server returns the first message from that sequence on.
        const next = { seq: first, next_by_subj: subject }
        return toMessages(await get(next))
      }),
    removeBefore: (sequence) => Effect.asVoid(whileConnected(() => manager.streams.purge(stream, { seq: sequence })))
  }
})

const toMessages = (message: StoredMsg | undefined): ReadonlyArray<LogMessage> =>
  message === undefined ? [] : [{ sequence: message.seq, payload: message.data }]

/** Returns undefined for a message that does not exist. */
export const whileFound = async (call: () => Promise<StoredMsg | null>): Promise<StoredMsg | undefined> => {
  try {
    return (await call()) ?? undefined
  } catch (cause) {
    if (cause instanceof JetStreamApiError && cause.code === JetStreamApiCodes.NoMessageFound) return undefined
    throw cause
  }
}
