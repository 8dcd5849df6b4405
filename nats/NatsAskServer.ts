/** Implements the runner's side of the channels (see NatsAsks): passes requests to this node's actors and sends their replies. */
import { Context, Effect, Exit, Layer, Option, Scope } from "effect"
import type { Fiber } from "effect"
import { Message, Reply, Sharding } from "effect/cluster"
import { codecFor, encodeDefect, unpack } from "./AskMessages.ts"
import type { FromCaller, FromRunner, AskRefusal } from "./AskMessages.ts"

/** Handles the messages of one session. Closing the session interrupts its requests. */
export interface AskSession {
  readonly receive: (message: FromCaller) => void
  readonly end: () => void
}

/** Holds the handler that the transport calls. It is empty until the actors are available. */
export class AskServer extends Context.Service<
  AskServer,
  { open: ((send: (message: FromRunner) => void) => AskSession) | undefined }
>()("aicr/nats/AskServer") {
  static readonly layer = Layer.sync(AskServer, () => ({ open: undefined }))
}

/** Serves requests with the actors of this node while the scope is open. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const server = yield* AskServer
    const sharding = yield* Sharding.Sharding
    const runFork = Effect.runForkWith(yield* Effect.context<never>())

    const open = (send: (message: FromRunner) => void): AskSession => {
      const running = new Map<number, () => void>()
      /** Sends a reply. One that cannot be encoded becomes a defect for the caller. */
      const reply = (message: FromRunner) => {
        running.delete(message.id)
        try {
          send(message)
        } catch (cause) {
          send({ _tag: "Failed", id: message.id, defect: encodeDefect(cause) })
        }
      }
      const receive = (message: FromCaller) => {
        const { id } = message
        if (message._tag === "Stop") {
          running.get(id)?.()
          return void running.delete(id)
        }
        const isAsk = message._tag === "Ask"
        const callerScope = Scope.makeUnsafe()
        const request = new Message.IncomingRequest({
          envelope: unpack(message.request),
          lastSentReply: Option.none(),
          codecFor,
          ...(isAsk ? { callerScope } : {}),
          respond: (found) =>
            isAsk
              ? Effect.map(Reply.serializeOrDefect(found, codecFor), (encoded) => {
                  if (running.has(id)) reply({ _tag: "Replied", id, reply: encoded })
                })
              : Effect.void
        })
        let fiber: Fiber.Fiber<void> | undefined
        // Registered first, because the request may complete before this function continues.
        running.set(id, () => {
          fiber?.interruptUnsafe()
          runFork(Scope.close(callerScope, Exit.void))
        })
        fiber = runFork(
          Effect.matchCause(sharding.send(request), {
            onSuccess: () => (isAsk ? undefined : reply({ _tag: "Delivered", id })),
            onFailure: (cause) => {
              const failure = cause.reasons.find((reason) => reason._tag === "Fail")
              if (failure !== undefined)
                return reply({ _tag: "Refused", id, why: failure.error._tag satisfies AskRefusal })
              const defect = cause.reasons.find((reason) => reason._tag === "Die")
              if (defect !== undefined) reply({ _tag: "Failed", id, defect: encodeDefect(defect.defect) })
            }
          })
        )
      }
      return {
        receive,
        end: () => {
          for (const stop of running.values()) stop()
          running.clear()
        }
      }
    }
    yield* Effect.acquireRelease(
      Effect.sync(() => {
        server.open = open
      }),
      () =>
        Effect.sync(() => {
          server.open = undefined
        })
    )
  })
)
