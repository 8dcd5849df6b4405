/**
 * Sessions that a runner serves, by name and by the cluster's client id. A session ends after 15 s of silence or with a missing frame; its
 * requests are interrupted. A frame of an unknown session gets an empty message as its reply.
 */
import type { Msg } from "@nats-io/transport-node"
import { Effect, Queue } from "effect"
import type { Fiber } from "effect"
import type { RpcMessage } from "effect/rpc"
import { isFromCaller } from "./AskMessages.ts"
import type { FromRunner } from "./AskMessages.ts"
import type { AskServer, AskSession } from "./NatsAskServer.ts"
import type { NatsConnection } from "./NatsConnection.ts"
import { frameWriter, readFrame } from "./RunnerFrames.ts"
import type { FrameWriter } from "./RunnerFrames.ts"

const idleMillis = 15_000

interface ServedSession {
  readonly id: number
  readonly inbox: string
  readonly frames: FrameWriter
  readonly incoming: Queue.Queue<ReadonlyArray<unknown>>
  readonly fiber: Fiber.Fiber<never>
  /** Created by its first request without RPC. */
  asks: AskSession | undefined
  receivedAt: number
  expected: number
}

export interface SessionsOptions {
  readonly raw: NatsConnection["Service"]["raw"]
  readonly askServer: AskServer["Service"]
  /** Passes a message of a client to the RPC server. */
  readonly writeRequest: (clientId: number, message: RpcMessage.FromClientEncoded) => Effect.Effect<void>
  readonly onEnd: (clientId: number) => void
  readonly runFork: <A, E>(effect: Effect.Effect<A, E>) => Fiber.Fiber<A, E>
}

export class ServedSessions {
  readonly #options: SessionsOptions
  readonly #byName = new Map<string, ServedSession>()
  readonly #byId = new Map<number, ServedSession>()
  #nextId = 0

  constructor(options: SessionsOptions) {
    this.#options = options
  }

  get clientIds(): Set<number> {
    return new Set(this.#byId.keys())
  }

  framesOf(clientId: number): FrameWriter | undefined {
    return this.#byId.get(clientId)?.frames
  }

  receive(message: Msg): void {
    const name = message.subject.slice(message.subject.lastIndexOf(".") + 1)
    const existing = this.#byName.get(name)
    if (message.data.length === 0) return existing === undefined ? undefined : this.#end(name, existing)
    const inbox = message.reply
    const frame = readFrame(message.data)
    if (inbox === undefined || inbox === "") return
    if (frame === undefined || frame.number !== (existing?.expected ?? 0)) {
      if (existing !== undefined) this.#end(name, existing)
      return this.#publish(inbox)
    }
    const session = existing ?? this.#open(name, inbox)
    session.receivedAt = performance.now()
    session.expected += 1
    const others = frame.messages.filter((item) => !this.#receiveAsk(session, item))
    if (others.length > 0) Queue.offerUnsafe(session.incoming, others)
  }

  /** Ends the sessions that have been silent for too long. Returns the milliseconds until the next one may be. */
  endIdle(): number {
    const now = performance.now()
    let next = now
    for (const [name, session] of this.#byName) {
      if (session.receivedAt < now - idleMillis) this.#end(name, session)
      else next = Math.min(next, session.receivedAt)
    }
    return next + idleMillis - now
  }

  /** Ends every session and notifies its caller. */
  endAll(): void {
    for (const [name, session] of this.#byName) {
      this.#end(name, session)
      this.#publish(session.inbox)
    }
  }

  #publish(inbox: string, data?: string): void {
    const { raw } = this.#options
    if (!raw.isClosed()) raw.publish(inbox, data)
  }

  #open(name: string, inbox: string): ServedSession {
    const { raw, runFork } = this.#options
    const id = this.#nextId++
    const incoming = Queue.unbounded<ReadonlyArray<unknown>>().pipe(Effect.runSync)
    const session: ServedSession = {
      id,
      inbox,
      frames: frameWriter(
        () => raw.info?.max_payload ?? 1024 * 1024,
        (frame) => this.#publish(inbox, frame)
      ),
      incoming,
      fiber: runFork(this.#serve(id, incoming)),
      asks: undefined,
      receivedAt: performance.now(),
      expected: 0
    }
    this.#byName.set(name, session)
    this.#byId.set(id, session)
    return session
  }

  #serve(id: number, incoming: ServedSession["incoming"]): Effect.Effect<never> {
    return Effect.forever(
      Effect.flatMap(Queue.takeAll(incoming), (frames) => {
        const messages = frames.flat()
        let at = 0
        return Effect.whileLoop({
          while: () => at < messages.length,
          body: () => this.#options.writeRequest(id, messages[at++] as RpcMessage.FromClientEncoded),
          step: () => {}
        })
      })
    )
  }

  #end(name: string, session: ServedSession): void {
    this.#byName.delete(name)
    this.#byId.delete(session.id)
    session.fiber.interruptUnsafe()
    session.asks?.end()
    this.#options.onEnd(session.id)
  }

  /** Returns false for a message of the RPC server. */
  #receiveAsk(session: ServedSession, message: unknown): boolean {
    if (!isFromCaller(message)) return false
    session.asks ??= this.#options.askServer.open?.((reply) => session.frames.push(reply))
    if (session.asks !== undefined) session.asks.receive(message)
    else if (message._tag !== "Stop") {
      session.frames.push({
        _tag: "Refused",
        id: message.id,
        why: "EntityNotAssignedToRunner"
      } satisfies FromRunner)
    }
    return true
  }
}
