/**
 * Implements the client of the cluster's RPC over a session with each runner (see RunnerSession): pings, streams, control messages, and all
 * messages while no channel is connected (see NatsAsks). When a session is lost, every pending call fails as unavailable, and the cluster
 * sends it again.
 */
import { Effect, Layer, Queue } from "effect"
import { Runners } from "effect/cluster"
import type { RunnerAddress } from "effect/cluster"
import { RpcClient, RpcClientError, RpcSerialization } from "effect/rpc"
import type { RpcMessage } from "effect/rpc"
import { NatsConnection } from "./NatsConnection.ts"
import { NatsError } from "./NatsError.ts"
import { openSession } from "./RunnerSession.ts"

export const layer = Layer.effect(
  Runners.RpcClientProtocol,
  Effect.map(NatsConnection, (connection) => ({
    codecFor: RpcSerialization.json.codecFor,
    make: (address) => makeProtocol(connection, address)
  }))
)

const makeProtocol = (connection: NatsConnection["Service"], address: RunnerAddress.RunnerAddress) =>
  RpcClient.Protocol.make(
    Effect.fnUntraced(function* (writeResponse, clientIds) {
      const clientOf = new Map<string | number, number>()
      const incoming = yield* Queue.unbounded<ReadonlyArray<unknown> | RpcClientError.RpcClientError>()
      const session = yield* openSession(connection, address, {
        receive: (messages) => void Queue.offerUnsafe(incoming, messages),
        lost: (why) => void Queue.offerUnsafe(incoming, unavailable(why))
      })

      const deliver = (response: RpcMessage.FromServerEncoded): Effect.Effect<void> => {
        if (response._tag === "Pong") return Effect.void
        if ("requestId" in response) {
          const clientId = clientOf.get(response.requestId)
          // The call was interrupted here before its response arrived.
          if (clientId === undefined) return Effect.void
          if (response._tag === "Exit") clientOf.delete(response.requestId)
          return writeResponse(clientId, response)
        }
        return Effect.forEach([...clientIds], (clientId) => writeResponse(clientId, response), { discard: true })
      }
      yield* Effect.forkScoped(
        Effect.forever(
          Effect.flatMap(Queue.takeAll(incoming), (items) =>
            Effect.forEach(
              items,
              (item) => {
                if (item instanceof RpcClientError.RpcClientError) {
                  clientOf.clear()
                  return deliver({ _tag: "ClientProtocolError", error: item })
                }
                // Written by the same library on another node. The caller decodes the payload.
                return inOrder(item, (message) => deliver(message as RpcMessage.FromServerEncoded))
              },
              { discard: true }
            )
          )
        )
      )

      return {
        send: (clientId, request) =>
          Effect.suspend(() => {
            const why = session.down()
            if (why !== undefined) return Effect.fail(unavailable(why))
            if (request._tag === "Request") clientOf.set(request.id, clientId)
            if (request._tag === "Interrupt") clientOf.delete(request.requestId)
            try {
              session.push(request)
              return Effect.void
            } catch (cause) {
              if (request._tag === "Request") clientOf.delete(request.id)
              // A defect reaches the caller, while the cluster would retry an unavailable runner forever.
              return Effect.die(cause)
            }
          }),
        supportsAck: true,
        supportsTransferables: false,
        codecFor: RpcSerialization.json.codecFor
      }
    })
  )

const inOrder = (items: ReadonlyArray<unknown>, each: (item: unknown) => Effect.Effect<void>): Effect.Effect<void> => {
  let at = 0
  return Effect.whileLoop({ while: () => at < items.length, body: () => each(items[at++]), step: () => {} })
}

const unavailable = (why: string): RpcClientError.RpcClientError =>
  new RpcClientError.RpcClientError({
    reason: new RpcClientError.RpcClientDefect({
      message: why,
      cause: new NatsError({ reason: "unavailable", message: why })
    })
  })
