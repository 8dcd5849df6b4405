/**
 * The way of plain asks and tells to another node: a lane, which is a session that carries requests of actors and their answers as they
 * are, where the cluster's own way wraps each in a second RPC with fibers and schemas of its own on both sides. Everything
 * else (streams, persisted messages, acknowledgements, pings), and whatever is sent while a lane does not stand, goes the cluster's way.
 *
 * An ask whose lane is lost fails as `RunnerUnavailable`; the cluster sends it again to wherever the actor is then.
 */
import { Context, Effect, Exit, Layer, Schema, Scope } from "effect"
import { ClusterError, ClusterSchema, Message, Reply, Runners, Snowflake } from "effect/cluster"
import type { Envelope, RunnerAddress } from "effect/cluster"
import { RpcSchema } from "effect/rpc"
import type { Rpc } from "effect/rpc"
import { codecFor, decodeDefect, isFromRunner, pack } from "./AskMessages.ts"
import type { FromRunner, Refusal } from "./AskMessages.ts"
import { NatsConnection } from "./NatsConnection.ts"
import { openSession, placeOf } from "./RunnerSession.ts"
import type { RunnerSession } from "./RunnerSession.ts"

type Outcome = FromRunner | "lost"

interface Lane {
  readonly scope: Scope.Closeable
  session: RunnerSession | undefined
  readonly waiting: Map<number, (outcome: Effect.Effect<Outcome>) => void>
  next: number
  /** At the last look. */
  wasDown: boolean
}

/** A lane that is down at two looks in a row is given up. */
const lookEveryMillis = 15_000

const make = Effect.gen(function* () {
  const connection = yield* NatsConnection
  const base = yield* Runners.makeRpc
  const snowflakes = yield* Snowflake.Generator
  const scope = yield* Effect.scope
  const runFork = Effect.runForkWith(yield* Effect.context<never>())
  const lanes = new Map<string, Lane>()

  const open = (address: RunnerAddress.RunnerAddress): Lane => {
    const lane: Lane = {
      scope: Scope.forkUnsafe(scope),
      session: undefined,
      waiting: new Map(),
      next: 0,
      wasDown: false
    }
    const settle = (id: number, outcome: Outcome) => {
      const resume = lane.waiting.get(id)
      lane.waiting.delete(id)
      resume?.(Effect.succeed(outcome))
    }
    runFork(
      openSession(connection, address, {
        hear: (messages) => {
          for (const message of messages) if (isFromRunner(message)) settle(message.id, message)
        },
        lost: () => {
          for (const id of lane.waiting.keys()) settle(id, "lost")
        }
      }).pipe(
        Effect.tap((session) =>
          Effect.sync(() => {
            lane.session = session
          })
        ),
        Effect.provideService(Scope.Scope, lane.scope)
      )
    )
    return lane
  }

  const close = (place: string): Effect.Effect<void> => {
    const lane = lanes.get(place)
    lanes.delete(place)
    return lane === undefined ? Effect.void : Scope.close(lane.scope, Exit.void)
  }
  const isDown = ({ session }: Lane): boolean => session === undefined || session.down() !== undefined

  // A runner that is gone for good may be asked once more after it was taken off the list; nobody would end that lane.
  yield* Effect.forkScoped(
    Effect.forever(
      Effect.andThen(
        Effect.sleep(lookEveryMillis),
        Effect.suspend(() => {
          const gone = [...lanes].filter(([, lane]) => lane.wasDown && isDown(lane)).map(([place]) => place)
          for (const lane of lanes.values()) lane.wasDown = isDown(lane)
          return Effect.forEach(gone, close, { discard: true })
        })
      )
    )
  )

  /** One that stands; the first look begins it. */
  const laneOf = (address: RunnerAddress.RunnerAddress): Lane | undefined => {
    const place = placeOf(address)
    let lane = lanes.get(place)
    if (lane === undefined) {
      lane = open(address)
      lanes.set(place, lane)
    }
    return isDown(lane) ? undefined : lane
  }

  const exchange = (lane: Lane, tag: "Ask" | "Tell", request: ReturnType<typeof pack>): Effect.Effect<Outcome> =>
    Effect.callback((resume) => {
      const { session } = lane
      // It was lost while the request was encoded.
      if (session === undefined || session.down() !== undefined) return resume(Effect.succeed("lost"))
      const id = lane.next++
      try {
        session.push({ _tag: tag, id, request })
      } catch (cause) {
        return resume(Effect.die(cause))
      }
      lane.waiting.set(id, resume)
      return Effect.sync(() => {
        if (lane.waiting.delete(id) && session.down() === undefined) session.push({ _tag: "Stop", id })
      })
    })

  const failureOf = <R extends Rpc.Any>(
    outcome: Outcome,
    address: RunnerAddress.RunnerAddress,
    message: Message.OutgoingRequest<R>
  ) => {
    if (outcome === "lost") return new ClusterError.RunnerUnavailable({ address })
    return outcome._tag === "Refused" ? refusals[outcome.why](message.envelope) : undefined
  }

  const isPlain = <R extends Rpc.Any>(message: Message.Outgoing<R>): message is Message.OutgoingRequest<R> => {
    if (message._tag !== "OutgoingRequest") return false
    const rpc: unknown = message.rpc
    return (
      isRpc(rpc) &&
      !Context.get(rpc.annotations, ClusterSchema.Persisted) &&
      !RpcSchema.isStreamSchema(rpc.successSchema)
    )
  }

  const ask = <R extends Rpc.Any>(
    lane: Lane,
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
      Effect.flatMap((request) => exchange(lane, "Ask", pack(request))),
      Effect.flatMap((outcome) => {
        if (outcome !== "lost" && outcome._tag === "Answer") {
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

  const tell = <R extends Rpc.Any>(
    lane: Lane,
    address: RunnerAddress.RunnerAddress,
    message: Message.OutgoingRequest<R>
  ) =>
    Message.serializeRequest(message, codecFor).pipe(
      Effect.orDie,
      Effect.flatMap((request) => exchange(lane, "Tell", pack(request))),
      Effect.flatMap((outcome) => {
        if (outcome !== "lost" && outcome._tag === "Failed") return Effect.die(decodeDefect(outcome.defect))
        const failure = failureOf(outcome, address, message)
        return failure === undefined ? Effect.void : Effect.fail(failure)
      })
    )

  return Runners.Runners.of({
    ...base,
    send: (options) =>
      Effect.suspend(() => {
        const { address, message } = options
        if (!isPlain(message)) return base.send(options)
        const lane = laneOf(address)
        return lane === undefined ? base.send(options) : ask(lane, address, message)
      }),
    notify: (options) =>
      Effect.suspend(() => {
        const { address, message, discard } = options
        if (!discard || address._tag === "None" || !isPlain(message)) return base.notify(options)
        const lane = laneOf(address.value)
        return lane === undefined ? base.notify(options) : tell(lane, address.value, message)
      }),
    onRunnerUnavailable: (address) => Effect.andThen(close(placeOf(address)), base.onRunnerUnavailable(address))
  })
})

export const layer = Layer.effect(Runners.Runners, make).pipe(Layer.provide(Snowflake.layerGenerator))

type Refused = ClusterError.EntityNotAssignedToRunner | ClusterError.MailboxFull | ClusterError.AlreadyProcessingMessage

const refusals = {
  EntityNotAssignedToRunner: ({ address }) => new ClusterError.EntityNotAssignedToRunner({ address }),
  MailboxFull: ({ address }) => new ClusterError.MailboxFull({ address }),
  AlreadyProcessingMessage: ({ address, requestId }) =>
    new ClusterError.AlreadyProcessingMessage({ address, envelopeId: requestId })
} satisfies Record<Refusal, (envelope: Pick<Envelope.PartialRequest, "address" | "requestId">) => Refused>

const isRpc = (rpc: unknown): rpc is Rpc.AnyWithProps =>
  typeof rpc === "object" || typeof rpc === "function"
    ? rpc !== null && "annotations" in rpc && "successSchema" in rpc
    : false
