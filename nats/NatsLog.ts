/**
 * A log that many nodes write and all follow, over a JetStream stream with one subject. It is the basis of state that each node holds in
 * memory. An append names the last message its writer has seen (a compare-and-set), so that every writer has seen all earlier messages. The
 * owner of the state removes the beginning of the log when it is no longer needed.
 */
import { DeliverPolicy } from "@nats-io/jetstream"
import { Deferred, Effect } from "effect"
import type { Scope } from "effect"
import { NatsConnection } from "./NatsConnection.ts"
import { NatsError, attempt, toNatsError } from "./NatsError.ts"
import { ensure, streamName } from "./NatsStreams.ts"
import type { StreamPlan } from "./NatsStreams.ts"
import { logSubject } from "./NatsSubjects.ts"

export interface NatsLog {
  /**
   * Returns the sequence of the message. Fails with `conflict` if `after` is not the last one; after `unavailable` the append may still
   * happen.
   */
  readonly append: (payload: Uint8Array, after: number) => Effect.Effect<number, NatsError>
  /** Returns the sequence of the last message, read from the stream's leader; 0 if the log never had one. */
  readonly last: Effect.Effect<number, NatsError>
  /** Restarts the follower at its position. */
  readonly restart: Effect.Effect<void>
  /** Removes all messages before `sequence`. */
  readonly removeBefore: (sequence: number) => Effect.Effect<void, NatsError>
}

/** A message of the log; `time` is the time of the append in milliseconds since the epoch. */
export interface Delivered {
  readonly sequence: number
  readonly payload: Uint8Array
  readonly time: number
}

/** Takes each message, in order. Returns false to restart the log at `from()`. */
export interface Follower {
  readonly from: () => number
  readonly take: (message: Delivered) => boolean
}

/** Creates the log if it does not exist, and follows it until the scope closes, through reconnects and restarts of NATS. */
export const makeLog = Effect.fnUntraced(function* (
  name: string,
  follower: Follower
): Effect.fn.Return<NatsLog, NatsError, NatsConnection | Scope.Scope> {
  const { jetstream, manager, prefix, reconnected, status } = yield* NatsConnection
  const plan = { kind: "log", name } as const satisfies StreamPlan
  yield* ensure([plan])
  const stream = streamName(prefix, plan)
  const subject = logSubject(prefix, name)
  const what = `log ${name}`

  const follow = Effect.tryPromise({
    try: async (signal) => {
      const consumer = await jetstream.consumers.get(stream, {
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: follower.from()
      })
      const messages = await consumer.consume({ max_messages: 500 })
      if (signal.aborted) return messages.stop()
      signal.addEventListener("abort", () => messages.stop())
      for await (const message of messages)
        if (!follower.take({ sequence: message.seq, payload: message.data, time: message.time.getTime() }))
          return messages.stop()
    },
    catch: (cause) => toNatsError(`follow ${what}`, cause)
  })
  let restarted = Deferred.makeUnsafe<void>()
  const until = Effect.suspend(() => {
    restarted = Deferred.makeUnsafe()
    return Effect.raceFirst(reconnected, Deferred.await(restarted))
  })
  yield* Effect.raceFirst(follow, until).pipe(
    Effect.catch((error) => Effect.logDebug("log follower interrupted", { error: error.message })),
    Effect.andThen(Effect.sleep("50 millis")),
    Effect.forever,
    Effect.forkScoped
  )

  /** Fails while disconnected. The client would otherwise send a message after the reconnect, long after its caller saw the failure. */
  const connected = Effect.flatMap(status, (now) =>
    now.connected
      ? Effect.void
      : Effect.fail(new NatsError({ reason: "unavailable", message: `NATS at ${now.server} is disconnected` }))
  )
  return {
    append: (payload, after) =>
      Effect.andThen(
        connected,
        attempt(
          what,
          async () => (await jetstream.publish(subject, payload, { expect: { lastSubjectSequence: after } })).seq
        )
      ),
    last: Effect.andThen(
      connected,
      attempt(what, async () => (await manager.streams.info(stream)).state.last_seq)
    ),
    restart: Effect.suspend(() => Effect.asVoid(Deferred.succeed(restarted, undefined))),
    removeBefore: (sequence) => Effect.asVoid(attempt(what, () => manager.streams.purge(stream, { seq: sequence })))
  }
})
