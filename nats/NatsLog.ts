/**
 * A log that many nodes write and all follow, over a JetStream stream with one subject: the ground for a state that each node holds in
 * memory. A message is appended only behind the one that its writer knew as the last (a compare-and-set), so that whoever appends has
 * seen everything before it. Whoever keeps the state may remove the beginning of the log once nothing of it counts any more.
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
  /** Its sequence. Fails with `conflict` when `after` is not the last one; `unavailable` may have happened, also later. */
  readonly append: (payload: Uint8Array, after: number) => Effect.Effect<number, NatsError>
  /** Sequence of the last message; 0 of a log that never had one. As the stream's leader knows it. */
  readonly last: Effect.Effect<number, NatsError>
  /** Follows anew, from where the follower says. */
  readonly restart: Effect.Effect<void>
  /** Removes all before `sequence`. */
  readonly removeBefore: (sequence: number) => Effect.Effect<void, NatsError>
}

/** A message as the log has it; `time` is when the log took it in, in milliseconds since the epoch. */
export interface Delivered {
  readonly sequence: number
  readonly payload: Uint8Array
  readonly time: number
}

/** Takes each message, in order. Returns false when the log is to be followed again, from `from()` on. */
export interface Follower {
  readonly from: () => number
  readonly take: (message: Delivered) => boolean
}

/** Makes the log when it is not there, and follows it until the scope closes, through whatever NATS does. */
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

  /** What is sent to a server that is away would be sent when it is back, long after its sender was told that it failed. */
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
