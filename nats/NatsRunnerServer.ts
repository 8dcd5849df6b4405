/**
 * The serving half of the cluster's transport, see NatsRunnerClient. A session that is silent for 15 s is over, and so is one with a
 * frame missing; what it had asked for is interrupted. A frame for a session that is not known is answered with an empty message.
 */
import { nuid } from "@nats-io/transport-node"
import type { Msg } from "@nats-io/transport-node"
import { Effect, Fiber, Layer, Option, Queue } from "effect"
import { RpcMessage, RpcServer } from "effect/rpc"
import type { RunnerAddress } from "effect/cluster"
import { encodeDefect, codecFor, isFromCaller } from "./AskMessages.ts"
import type { FromRunner } from "./AskMessages.ts"
import { AskServer } from "./NatsAskServer.ts"
import type { AskSession } from "./NatsAskServer.ts"
import { NatsConnection } from "./NatsConnection.ts"
import { toNatsError } from "./NatsError.ts"
import { runnerSubject } from "./NatsSubjects.ts"
import { frameWriter, readFrame } from "./RunnerFrames.ts"
import type { FrameWriter } from "./RunnerFrames.ts"

const idleMillis = 15_000

interface Session {
  readonly id: number
  readonly inbox: string
  readonly frames: FrameWriter
  readonly incoming: Queue.Queue<ReadonlyArray<unknown>>
  readonly fiber: Fiber.Fiber<never>
  /** Once it has asked for something without RPC around it. */
  asks: AskSession | undefined
  heard: number
  expected: number
}

/** Serves for this address while the scope is open. The address must be this process's alone. */
export const layer = (address: RunnerAddress.RunnerAddress) =>
  Layer.effect(
    RpcServer.Protocol,
    Effect.gen(function* () {
      return yield* makeProtocol(yield* NatsConnection, yield* AskServer, address)
    })
  )

const makeProtocol = (
  connection: NatsConnection["Service"],
  askServer: AskServer["Service"],
  address: RunnerAddress.RunnerAddress
) =>
  RpcServer.Protocol.make(
    Effect.fnUntraced(function* (writeRequest) {
      const { raw, prefix } = connection
      const place = `${address.host}:${address.port}`
      const incarnation = nuid.next()
      const disconnects = yield* Queue.unbounded<number>()
      const sessions = new Map<string, Session>()
      const byId = new Map<number, Session>()
      const runFork = Effect.runForkWith(yield* Effect.context<never>())
      let ids = 0

      const publish = (inbox: string, data?: string) => {
        if (!raw.isClosed()) raw.publish(inbox, data)
      }
      const open = (inbox: string): Session => {
        const id = ids++
        const incoming = Queue.unbounded<ReadonlyArray<unknown>>().pipe(Effect.runSync)
        const serve = Effect.forever(
          Effect.flatMap(Queue.takeAll(incoming), (frames) => {
            const messages = frames.flat()
            let at = 0
            return Effect.whileLoop({
              while: () => at < messages.length,
              body: () => writeRequest(id, messages[at++] as RpcMessage.FromClientEncoded),
              step: () => {}
            })
          })
        )
        const limit = () => raw.info?.max_payload ?? 1024 * 1024
        return {
          id,
          inbox,
          frames: frameWriter(limit, (frame) => publish(inbox, frame)),
          incoming,
          fiber: runFork(serve),
          asks: undefined,
          heard: performance.now(),
          expected: 0
        }
      }
      const end = (name: string, session: Session) => {
        sessions.delete(name)
        byId.delete(session.id)
        session.fiber.interruptUnsafe()
        session.asks?.end()
        Queue.offerUnsafe(disconnects, session.id)
      }
      const hear = (message: Msg) => {
        const name = message.subject.slice(message.subject.lastIndexOf(".") + 1)
        const known = sessions.get(name)
        if (message.data.length === 0) return known === undefined ? undefined : end(name, known)
        const inbox = message.reply
        const frame = readFrame(message.data)
        if (inbox === undefined || inbox === "") return
        if (frame === undefined || frame.number !== (known?.expected ?? 0)) {
          if (known !== undefined) end(name, known)
          return publish(inbox)
        }
        const session = known ?? open(inbox)
        if (known === undefined) {
          sessions.set(name, session)
          byId.set(session.id, session)
        }
        session.heard = performance.now()
        session.expected += 1
        const others = frame.messages.filter((item) => !ask(session, item))
        if (others.length > 0) Queue.offerUnsafe(session.incoming, others)
      }
      const ask = (session: Session, message: unknown): boolean => {
        if (!isFromCaller(message)) return false
        session.asks ??= askServer.open?.((answer) => session.frames.push(answer))
        if (session.asks !== undefined) session.asks.hear(message)
        else if (message._tag !== "Stop") {
          session.frames.push({
            _tag: "Refused",
            id: message.id,
            why: "EntityNotAssignedToRunner"
          } satisfies FromRunner)
        }
        return true
      }

      yield* Effect.acquireRelease(
        Effect.sync(() => [
          raw.subscribe(runnerSubject(prefix, place), {
            callback: (error, message) => {
              if (error === null) message.respond(incarnation)
              else runFork(Effect.logError(toNatsError(`runner ${place}`, error).message))
            }
          }),
          raw.subscribe(runnerSubject(prefix, place, incarnation, "*"), {
            callback: (error, message) => {
              if (error === null) hear(message)
              else runFork(Effect.logError(toNatsError(`runner ${place}`, error).message))
            }
          })
        ]),
        (subscriptions) =>
          Effect.sync(() => {
            for (const subscription of subscriptions) subscription.unsubscribe()
            for (const [name, session] of sessions) {
              end(name, session)
              publish(session.inbox)
            }
          })
      )
      yield* Effect.forkScoped(
        Effect.forever(
          Effect.andThen(
            Effect.sleep(1000),
            Effect.sync(() => {
              const before = performance.now() - idleMillis
              for (const [name, session] of sessions) if (session.heard < before) end(name, session)
            })
          )
        )
      )

      return {
        disconnects,
        send: (clientId, response) =>
          Effect.suspend(() => {
            const session = byId.get(clientId)
            if (session === undefined) return Effect.void
            try {
              session.frames.push(response)
              return Effect.void
            } catch (cause) {
              const defect = encodeDefect(cause)
              if (!("requestId" in response)) {
                session.frames.push(RpcMessage.ResponseDefectEncoded(defect))
                return Effect.void
              }
              const requestId = RpcMessage.RequestId(response.requestId)
              session.frames.push(RpcMessage.ResponseExitDieEncoded({ requestId, encodedDefect: defect }))
              // A stream would go on with its next part, for nobody.
              return response._tag === "Chunk"
                ? Effect.ignoreCause(writeRequest(clientId, { _tag: "Interrupt", requestId: response.requestId }))
                : Effect.void
            }
          }),
        end: () => Effect.void,
        clientIds: Effect.sync(() => new Set(byId.keys())),
        initialMessage: Effect.succeed(Option.none()),
        supportsAck: true,
        supportsTransferables: false,
        supportsSpanPropagation: true,
        supportsNotifications: true,
        codecFor
      }
    })
  )
