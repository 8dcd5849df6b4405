/**
 * One session with a runner, the calling side of it:
 *
 * 1. greeting: a request to the runner's subject, answered with the incarnation of the process that has it now; nobody there is known at once;
 * 2. frames to `…<incarnation>.<session>`, answers to an inbox of the session. A process that was restarted has another incarnation, so
 *    an old session reaches nobody instead of a process that never saw its requests;
 * 3. the session is lost when nobody is there any more, when the runner says so or is silent for 5 s, when a frame is missing, and
 *    when the connection to NATS breaks. Then the runner is greeted again until it answers or nobody wants it any more.
 */
import { createInbox, nuid } from "@nats-io/transport-node"
import type { Msg } from "@nats-io/transport-node"
import { Effect, Latch } from "effect"
import type { Scope } from "effect"
import type { RunnerAddress } from "effect/cluster"
import type { NatsConnection } from "./NatsConnection.ts"
import { attempt } from "./NatsError.ts"
import { runnerSubject } from "./NatsSubjects.ts"
import { frameWriter, readFrame } from "./RunnerFrames.ts"
import type { FrameWriter } from "./RunnerFrames.ts"

const greetWithinMillis = 1000
const pingEveryMillis = 1000
const silentMillis = 5000
const greetAgainMillis = 200

export interface RunnerSession {
  /** Why nothing can be sent at the moment; undefined when something can. */
  readonly down: () => string | undefined
  /** Only while it is not down. Throws what FrameWriter throws. */
  readonly push: (message: unknown) => void
}

export interface SessionHandlers {
  /** What the runner sent, in order, but for its answers to pings. */
  readonly hear: (messages: ReadonlyArray<unknown>) => void
  /** Nothing that was asked before will be answered. */
  readonly lost: (why: string) => void
}

interface Standing {
  readonly frames: FrameWriter
  readonly close: () => void
  heard: number
  expected: number
  pinged: boolean
}

/** The first greeting is over when this answers, well or not. */
export const openSession = Effect.fnUntraced(function* (
  connection: NatsConnection["Service"],
  address: RunnerAddress.RunnerAddress,
  { hear, lost }: SessionHandlers
): Effect.fn.Return<RunnerSession, never, Scope.Scope> {
  const { raw, prefix } = connection
  const place = placeOf(address)
  const ended = Latch.makeUnsafe(false)
  let standing: Standing | undefined
  let why = "it was not greeted yet"

  const end = (reason: string) => {
    if (standing === undefined) return
    standing.close()
    standing = undefined
    why = reason
    ended.openUnsafe()
    lost(reason)
  }

  const receive = (message: Msg) => {
    if (standing === undefined) return
    if (message.data.length === 0) {
      return end(message.headers?.code === 503 ? "nobody is there any more" : "it ended the session")
    }
    const frame = readFrame(message.data)
    if (frame === undefined || frame.number !== standing.expected) return end("an answer got lost")
    standing.expected += 1
    standing.heard = performance.now()
    standing.pinged = false
    hear(frame.messages)
  }

  const greet = Effect.gen(function* () {
    const answer = yield* attempt(`runner ${place}`, () =>
      raw.request(runnerSubject(prefix, place), "", { timeout: greetWithinMillis })
    )
    const subject = runnerSubject(prefix, place, answer.string(), nuid.next())
    const inbox = createInbox()
    const subscription = raw.subscribe(inbox, {
      callback: (error, message) => (error === null ? receive(message) : end(error.message))
    })
    ended.closeUnsafe()
    standing = {
      frames: frameWriter(
        () => raw.info?.max_payload ?? 1024 * 1024,
        (frame) => {
          if (!raw.isClosed()) raw.publish(subject, frame, { reply: inbox })
        }
      ),
      close: () => {
        subscription.unsubscribe()
        // Whoever still works for this session stops; while NATS is away the runner finds out by itself.
        if (!raw.isClosed()) raw.publish(subject)
      },
      heard: performance.now(),
      expected: 0,
      pinged: false
    }
  })
  const tryToGreet = Effect.catch(greet, (error) =>
    Effect.sync(() => {
      why = error.message
    })
  )

  yield* connection.onStatus((connected) => {
    if (!connected) end("the connection to NATS broke")
  })
  yield* Effect.addFinalizer(() => Effect.sync(() => end("it is not wanted any more")))
  yield* tryToGreet

  yield* Effect.forkScoped(
    Effect.forever(
      Effect.suspend(() =>
        standing === undefined
          ? Effect.andThen(
              Effect.raceFirst(Effect.sleep(greetAgainMillis), connection.reconnected),
              Effect.suspend(() => tryToGreet)
            )
          : ended.await
      )
    )
  )
  yield* Effect.forkScoped(
    Effect.forever(
      Effect.andThen(
        Effect.sleep(pingEveryMillis),
        Effect.sync(() => {
          if (standing === undefined) return
          // A node that was itself frozen asks first.
          if (standing.pinged && performance.now() - standing.heard > silentMillis) return end("it does not answer")
          standing.pinged = true
          standing.frames.push(ping)
        })
      )
    )
  )
  return {
    down: () => (standing === undefined ? `runner ${place}: ${why}` : undefined),
    push: (message) => standing?.frames.push(message)
  }
})

/** As Effect's RPC has it; answered with a Pong. */
const ping = { _tag: "Ping" }

export const placeOf = (address: RunnerAddress.RunnerAddress): string => `${address.host}:${address.port}`
