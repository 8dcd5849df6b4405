/** Implements the server of the cluster's transport (see NatsRunnerClient): subscriptions to the runner's subject and to its sessions. */
import { nuid } from "@nats-io/transport-node"
import type { Msg } from "@nats-io/transport-node"
import { Effect, Layer, Option, Queue } from "effect"
import { RpcMessage, RpcServer } from "effect/rpc"
import type { RunnerAddress } from "effect/cluster"
import { codecFor, encodeDefect } from "./AskMessages.ts"
import { AskServer } from "./NatsAskServer.ts"
import { NatsConnection } from "./NatsConnection.ts"
import { toNatsError } from "./NatsError.ts"
import { runnerSubject } from "./NatsSubjects.ts"
import { hostPort } from "./RunnerSession.ts"
import { ServedSessions } from "./ServedSessions.ts"
import type { SessionsOptions } from "./ServedSessions.ts"

/** Sessions that become idle within this time are ended together. */
const idleCheckMillis = 1000

type WriteRequest = SessionsOptions["writeRequest"]

/** Serves this address while the scope is open. No other process may use the address. */
export const layer = (address: RunnerAddress.RunnerAddress) =>
  Layer.effect(
    RpcServer.Protocol,
    Effect.gen(function* () {
      return yield* makeProtocol(yield* NatsConnection, yield* AskServer, address)
    })
  )

const subscribe = (
  { raw, prefix }: NatsConnection["Service"],
  name: string,
  sessions: ServedSessions,
  runFork: SessionsOptions["runFork"]
) => {
  const incarnation = nuid.next()
  const handled = (handle: (message: Msg) => void) => (error: Error | null, message: Msg) => {
    if (error === null) handle(message)
    else runFork(Effect.logError("runner subscription error", { error: toNatsError(`runner ${name}`, error).message }))
  }
  return Effect.acquireRelease(
    Effect.sync(() => [
      raw.subscribe(runnerSubject(prefix, name), { callback: handled((message) => message.respond(incarnation)) }),
      raw.subscribe(runnerSubject(prefix, name, incarnation, "*"), {
        callback: handled((message) => sessions.receive(message))
      })
    ]),
    (subscriptions) =>
      Effect.sync(() => {
        for (const subscription of subscriptions) subscription.unsubscribe()
        sessions.endAll()
      })
  )
}

/** Sends a response. One that cannot be encoded becomes a defect for its caller. */
const send = (
  sessions: ServedSessions,
  writeRequest: WriteRequest,
  clientId: number,
  response: RpcMessage.FromServerEncoded
): Effect.Effect<void> => {
  const frames = sessions.framesOf(clientId)
  if (frames === undefined) return Effect.void
  try {
    frames.push(response)
    return Effect.void
  } catch (cause) {
    const defect = encodeDefect(cause)
    if (!("requestId" in response)) {
      frames.push(RpcMessage.ResponseDefectEncoded(defect))
      return Effect.void
    }
    const requestId = RpcMessage.RequestId(response.requestId)
    frames.push(RpcMessage.ResponseExitDieEncoded({ requestId, encodedDefect: defect }))
    // Without the interrupt a stream would send its next part, which has no receiver.
    return response._tag === "Chunk"
      ? Effect.ignoreCause(writeRequest(clientId, { _tag: "Interrupt", requestId: response.requestId }))
      : Effect.void
  }
}

const makeProtocol = (
  connection: NatsConnection["Service"],
  askServer: AskServer["Service"],
  address: RunnerAddress.RunnerAddress
) =>
  RpcServer.Protocol.make(
    Effect.fnUntraced(function* (writeRequest) {
      const disconnects = yield* Queue.unbounded<number>()
      const runFork = Effect.runForkWith(yield* Effect.context<never>())
      const sessions = new ServedSessions({
        raw: connection.raw,
        askServer,
        writeRequest,
        onEnd: (clientId) => void Queue.offerUnsafe(disconnects, clientId),
        runFork
      })
      yield* subscribe(connection, hostPort(address), sessions, runFork)
      const endIdle = Effect.suspend(() => Effect.sleep(sessions.endIdle() + idleCheckMillis))
      yield* Effect.forkScoped(Effect.forever(endIdle))
      return {
        disconnects,
        send: (clientId, response) => Effect.suspend(() => send(sessions, writeRequest, clientId, response)),
        end: () => Effect.void,
        clientIds: Effect.sync(() => sessions.clientIds),
        initialMessage: Effect.succeed(Option.none()),
        supportsAck: true,
        supportsTransferables: false,
        supportsSpanPropagation: true,
        supportsNotifications: true,
        codecFor
      }
    })
  )
