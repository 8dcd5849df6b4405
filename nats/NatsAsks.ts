/**
 * Sends plain requests and notifications to an actor on another node over a channel (AskChannel.ts), which carries them and their replies
 * directly. The cluster's RPC client wraps each message in a second RPC, with fibers and schemas on both sides. Everything else (streams,
 * persisted messages, acknowledgements, pings), and all messages while a channel is not connected, use that client.
 *
 * A request whose channel is lost fails as `RunnerUnavailable`; the cluster then sends it to the node that has the actor.
 */
import { Context, Effect, Exit, Layer, Schema } from "effect"
import { ClusterError, ClusterSchema, Message, Reply, Runners, Snowflake } from "effect/cluster"
import type { Envelope, RunnerAddress } from "effect/cluster"
import { RpcSchema } from "effect/rpc"
import type { Rpc } from "effect/rpc"
import { makeAskChannels } from "./AskChannel.ts"
import type { AskChannel, Outcome } from "./AskChannel.ts"
import { codecFor, decodeDefect, pack } from "./AskMessages.ts"
import type { AskRefusal } from "./AskMessages.ts"

const isPlain = <R extends Rpc.Any>(message: Message.Outgoing<R>): message is Message.OutgoingRequest<R> => {
  if (message._tag !== "OutgoingRequest") return false
  const rpc: unknown = message.rpc
  return (
    isRpc(rpc) && !Context.get(rpc.annotations, ClusterSchema.Persisted) && !RpcSchema.isStreamSchema(rpc.successSchema)
  )
}

const failureOf = <R extends Rpc.Any>(
  outcome: Outcome,
  address: RunnerAddress.RunnerAddress,
  message: Message.OutgoingRequest<R>
) => {
  if (outcome === "lost") return new ClusterError.RunnerUnavailable({ address })
  return outcome._tag === "Refused" ? refusals[outcome.why](message.envelope) : undefined
}

/** Sends the request and responds to its caller with the actor's reply. */
const ask = <R extends Rpc.Any>(
  channel: AskChannel,
  snowflakes: Snowflake.Generator["Service"],
  address: RunnerAddress.RunnerAddress,
  message: Message.OutgoingRequest<R>
) => {
  const respondDefect = (defect: unknown) =>
    message.respond(
      new Reply.WithExit({
        id: snowflakes.nextUnsafe(),
        requestId: message.envelope.requestId,
        exit: Exit.die(defect)
      })
    )
  return Message.serializeRequest(message, codecFor).pipe(
    Effect.flatMap((request) => channel.exchange("Ask", pack(request))),
    Effect.flatMap((outcome) => {
      if (outcome !== "lost" && outcome._tag === "Replied") {
        return Schema.decodeUnknownEffect(Reply.Reply(message.rpc, codecFor))(outcome.reply).pipe(
          Effect.provideContext(message.context),
          Effect.orDie,
          Effect.flatMap(message.respond)
        )
      }
      if (outcome !== "lost" && outcome._tag === "Failed") return respondDefect(decodeDefect(outcome.defect))
      const failure = failureOf(outcome, address, message)
      return failure === undefined ? Effect.void : Effect.fail(failure)
    }),
    Effect.catchTag("MalformedMessage", respondDefect),
    Effect.catchDefect(respondDefect)
  )
}

/** Sends a notification. Succeeds when the actor has received it. */
const notifyOver = <R extends Rpc.Any>(
  channel: AskChannel,
  address: RunnerAddress.RunnerAddress,
  message: Message.OutgoingRequest<R>
) =>
  Message.serializeRequest(message, codecFor).pipe(
    Effect.orDie,
    Effect.flatMap((request) => channel.exchange("Tell", pack(request))),
    Effect.flatMap((outcome) => {
      if (outcome !== "lost" && outcome._tag === "Failed") return Effect.die(decodeDefect(outcome.defect))
      const failure = failureOf(outcome, address, message)
      return failure === undefined ? Effect.void : Effect.fail(failure)
    })
  )

const make = Effect.gen(function* () {
  const base = yield* Runners.makeRpc
  const snowflakes = yield* Snowflake.Generator
  const channels = yield* makeAskChannels
  return Runners.Runners.of({
    ...base,
    send: (options) =>
      Effect.suspend(() => {
        const { address, message } = options
        if (!isPlain(message)) return base.send(options)
        const channel = channels.connected(address)
        return channel === undefined ? base.send(options) : ask(channel, snowflakes, address, message)
      }),
    notify: (options) =>
      Effect.suspend(() => {
        const { address, message, discard } = options
        if (!discard || address._tag === "None" || !isPlain(message)) return base.notify(options)
        const channel = channels.connected(address.value)
        return channel === undefined ? base.notify(options) : notifyOver(channel, address.value, message)
      }),
    onRunnerUnavailable: (address) => Effect.andThen(channels.close(address), base.onRunnerUnavailable(address))
  })
})

export const layer = Layer.effect(Runners.Runners, make).pipe(Layer.provide(Snowflake.layerGenerator))

type Refused = ClusterError.EntityNotAssignedToRunner | ClusterError.MailboxFull | ClusterError.AlreadyProcessingMessage

const refusals = {
  EntityNotAssignedToRunner: ({ address }) => new ClusterError.EntityNotAssignedToRunner({ address }),
  MailboxFull: ({ address }) => new ClusterError.MailboxFull({ address }),
  AlreadyProcessingMessage: ({ address, requestId }) =>
    new ClusterError.AlreadyProcessingMessage({ address, envelopeId: requestId })
} satisfies Record<AskRefusal, (envelope: Pick<Envelope.PartialRequest, "address" | "requestId">) => Refused>

const isRpc = (rpc: unknown): rpc is Rpc.AnyWithProps =>
  typeof rpc === "object" || typeof rpc === "function"
    ? rpc !== null && "annotations" in rpc && "successSchema" in rpc
    : false
