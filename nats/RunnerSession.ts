/**
 * The calling side of a session with a runner:
 *
 * 1. Handshake: a request to the runner's subject. The response is the incarnation of the process that currently has it; NATS reports
 *    immediately if no process has it.
 * 2. Frames to `…<incarnation>.<session>`, replies to an inbox of the session. A restarted process has another incarnation, so frames of
 *    an old session have no receiver instead of reaching a process that never saw its requests.
 * 3. The session is lost when no process has the subject any more, when the runner ends it or is silent for 5 s, when a frame is
 *    missing, and when the connection to NATS breaks. Then the handshake is repeated until it succeeds or the scope ends.
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

const handshakeTimeoutMillis = 1000
const pingEveryMillis = 1000
const silentMillis = 5000
const retryMillis = 200

export interface RunnerSession {
  /** Returns the reason why nothing can be sent at the moment, or undefined. */
  readonly down: () => string | undefined
  /** Sends a message; only while the session is not down. Throws the errors of FrameWriter. */
  readonly push: (message: unknown) => void
}

export interface SessionHandlers {
  /** Called with the runner's messages, in order, except for replies to pings. */
  readonly receive: (messages: ReadonlyArray<unknown>) => void
  /** Called when no earlier request will get a reply. */
  readonly lost: (why: string) => void
}

/** A session after its handshake. */
interface Live {
  readonly frames: FrameWriter
  readonly close: () => void
  receivedAt: number
  expected: number
  isPinged: boolean
}

/** State of a session: live, or down for a reason. */
class SessionState implements RunnerSession {
  readonly ended = Latch.makeUnsafe(false)
  live: Live | undefined
  why = "the handshake is not done yet"
  readonly #name: string
  readonly #handlers: SessionHandlers

  constructor(name: string, handlers: SessionHandlers) {
    this.#name = name
    this.#handlers = handlers
  }

  down(): string | undefined {
    return this.live === undefined ? `runner ${this.#name}: ${this.why}` : undefined
  }

  push(message: unknown): void {
    this.live?.frames.push(message)
  }

  begin(live: Pick<Live, "frames" | "close">): void {
    this.ended.closeUnsafe()
    this.live = { ...live, receivedAt: performance.now(), expected: 0, isPinged: false }
  }

  end(why: string): void {
    if (this.live === undefined) return
    this.live.close()
    this.live = undefined
    this.why = why
    this.ended.openUnsafe()
    this.#handlers.lost(why)
  }

  receive(message: Msg): void {
    const { live } = this
    if (live === undefined) return
    if (message.data.length === 0) {
      return this.end(message.headers?.code === 503 ? "no process has its subject any more" : "it ended the session")
    }
    const frame = readFrame(message.data)
    if (frame === undefined || frame.number !== live.expected) return this.end("a reply was lost")
    live.expected += 1
    live.receivedAt = performance.now()
    live.isPinged = false
    this.#handlers.receive(frame.messages)
  }

  ping(): void {
    const { live } = this
    if (live === undefined) return
    // This node may have been frozen, so it sends a ping first.
    if (live.isPinged && performance.now() - live.receivedAt > silentMillis) return this.end("it does not respond")
    live.isPinged = true
    live.frames.push(ping)
  }
}

/** Performs the handshake. Succeeds when the session is live, and fails with the reason otherwise. */
const greet = Effect.fnUntraced(
  function* ({ raw, prefix }: NatsConnection["Service"], name: string, session: SessionState) {
    const response = yield* attempt(`runner ${name}`, () =>
      raw.request(runnerSubject(prefix, name), "", { timeout: handshakeTimeoutMillis })
    )
    const subject = runnerSubject(prefix, name, response.string(), nuid.next())
    const inbox = createInbox()
    const subscription = raw.subscribe(inbox, {
      callback: (error, message) => (error === null ? session.receive(message) : session.end(error.message))
    })
    session.begin({
      frames: frameWriter(
        () => raw.info?.max_payload ?? 1024 * 1024,
        (frame) => {
          if (!raw.isClosed()) raw.publish(subject, frame, { reply: inbox })
        }
      ),
      close: () => {
        subscription.unsubscribe()
        // The runner stops its work for this session. While NATS is unavailable it detects the silence.
        if (!raw.isClosed()) raw.publish(subject)
      }
    })
  },
  (effect, _connection, _name, session) =>
    Effect.catch(effect, (error) =>
      Effect.sync(() => {
        session.why = error.message
      })
    )
)

/** Returns after the first handshake, whether it succeeds or not. */
export const openSession = Effect.fnUntraced(function* (
  connection: NatsConnection["Service"],
  address: RunnerAddress.RunnerAddress,
  handlers: SessionHandlers
): Effect.fn.Return<RunnerSession, never, Scope.Scope> {
  const name = hostPort(address)
  const session = new SessionState(name, handlers)
  const handshake = greet(connection, name, session)

  yield* connection.onStatus((connected) => {
    if (!connected) session.end("the connection to NATS broke")
  })
  yield* Effect.addFinalizer(() => Effect.sync(() => session.end("this side closed it")))
  yield* handshake
  const beforeRetry = Effect.raceFirst(Effect.sleep(retryMillis), connection.reconnected)
  yield* Effect.forkScoped(
    Effect.forever(
      Effect.suspend(() => (session.live === undefined ? Effect.andThen(beforeRetry, handshake) : session.ended.await))
    )
  )
  yield* Effect.forkScoped(
    Effect.forever(
      Effect.andThen(
        Effect.sleep(pingEveryMillis),
        Effect.sync(() => session.ping())
      )
    )
  )
  return session
})

/** Ping in the encoding of Effect's RPC; the reply is a Pong. */
const ping = { _tag: "Ping" }

export const hostPort = (address: RunnerAddress.RunnerAddress): string => `${address.host}:${address.port}`
