/**
 * The long connection of a Slack app (docs.slack.dev: Socket Mode): its address comes from the API and is used once; envelopes are JSON. An envelope is
 * acknowledged after it is stored; without that, Slack delivers it again. Before Slack ends a connection it sends `disconnect`: then another one is
 * opened first, while the old one still receives, so that nothing is lost in between.
 */
import { Clock, Deferred, Duration, Effect, Fiber, Redacted, Semaphore } from "effect"
import type { Reason } from "../../domain/Reason.ts"
import { ChatSessionEnd } from "../ChatSession.ts"
import type { ChatHandlers, ChatSession } from "../ChatSession.ts"
import { callPlatform } from "../platform/PlatformCall.ts"
import { objectAt, parseJson, textAt } from "../platform/ReadJson.ts"
import type { JsonObject } from "../platform/ReadJson.ts"
import { openSocket } from "../platform/Socket.ts"
import type { ChatSocket } from "../platform/Socket.ts"
import { readEnvelope } from "./Messages.ts"

interface SlackSocketApp {
  /** Address of the API. */
  readonly baseUrl: string
  /** Token of the app, `xapp-…`. */
  readonly token: Redacted.Redacted
  readonly appId?: string | undefined
  readonly pingMillis?: number | undefined
}

const openMethod = "apps.connections.open"
/** Envelopes that are stored at a time; further ones wait in the socket. */
const maxEnvelopes = 64
const pingMillis = 30_000
/** Time in which a connection has to begin. */
const helloTimeout = Duration.seconds(15)
/** Shortest time of a connection that another one follows without a pause. */
const minMillis = 250
/** Slack ends an old connection within ten seconds after its warning. */
const overlap = Duration.seconds(30)

const ended = (reason: ChatSessionEnd["reason"], why: Reason): ChatSessionEnd => new ChatSessionEnd({ reason, why })

const discover = Effect.fnUntraced(function* ({ baseUrl, token }: SlackSocketApp) {
  const response = yield* callPlatform({
    operation: `POST ${openMethod}`,
    method: "POST",
    url: `${baseUrl}/${openMethod}`,
    headers: { authorization: `Bearer ${Redacted.value(token)}` },
    writes: false,
    secrets: [Redacted.value(token)]
  }).pipe(
    Effect.mapError(({ reason, why }) =>
      ended(reason === "unavailable" ? "lost" : reason === "rate_limited" ? "limited" : "refused", why)
    )
  )
  const url = textAt(response, ["url"], 4096)
  return url ?? (yield* ended("refused", { _tag: "NoConnectionAddress", operation: `POST ${openMethod}` }))
})

/** One socket. `refresh` is completed when another one has to take its place. */
const receive = Effect.fnUntraced(function* (
  app: SlackSocketApp,
  handlers: ChatHandlers,
  refresh: Deferred.Deferred<void>
) {
  const socket = yield* openSocket(yield* discover(app))
  const storing = yield* Semaphore.make(maxEnvelopes)
  const hello = yield* Deferred.make<void>()
  const probing = Deferred.await(hello).pipe(
    Effect.timeoutOrElse({
      duration: helloTimeout,
      orElse: () => Effect.fail(ended("lost", { _tag: "LongConnectionNotOpened" }))
    }),
    Effect.andThen(
      Effect.forever(Effect.andThen(Effect.sleep(Duration.millis(app.pingMillis ?? pingMillis)), socket.probe))
    )
  )
  const read = Effect.gen(function* () {
    for (;;) {
      const message = yield* socket.take
      const frame = typeof message === "string" ? parseJson(message) : undefined
      const type = textAt(frame, ["type"])
      if (frame === undefined || type === undefined) continue
      if (type === "hello") {
        yield* Deferred.succeed(hello, undefined)
        yield* handlers.ready(undefined)
      } else if (type === "disconnect") {
        if (textAt(frame, ["reason"]) === "link_disabled") return yield* ended("refused", { _tag: "LongConnectionOff" })
        yield* Deferred.succeed(refresh, undefined)
      } else {
        yield* storing.take(1)
        yield* Effect.forkScoped(Effect.ensuring(store(socket, app, handlers, type, frame), storing.release(1)))
      }
    }
  })
  return yield* Effect.raceFirst(read, probing)
}, Effect.scoped)

/** Stores what an envelope has, and acknowledges it. One that cannot be stored gets no acknowledgement. */
const store = (
  socket: ChatSocket,
  { appId }: SlackSocketApp,
  { receive: keep }: ChatHandlers,
  type: string,
  frame: JsonObject
) => {
  const id = textAt(frame, ["envelope_id"], 128)
  if (id === undefined) return Effect.void
  return keep(readEnvelope(type, objectAt(frame, "payload"), appId)).pipe(
    Effect.andThen(socket.send(JSON.stringify({ envelope_id: id }))),
    Effect.ignore
  )
}

export const makeSlackSession = (app: SlackSocketApp, key: string): ChatSession => ({
  key,
  client: undefined,
  run: (handlers) =>
    Effect.scoped(
      Effect.gen(function* () {
        for (;;) {
          const refresh = yield* Deferred.make<void>()
          const openedAt = yield* Clock.currentTimeMillis
          const receiving = yield* Effect.forkScoped(receive(app, handlers, refresh))
          yield* Effect.raceFirst(Fiber.join(receiving), Deferred.await(refresh))
          yield* Effect.forkScoped(Effect.andThen(Effect.sleep(overlap), Fiber.interrupt(receiving)))
          // A platform that ends every connection right after its start is not called without a pause.
          if ((yield* Clock.currentTimeMillis) - openedAt < minMillis) yield* Effect.sleep("1 second")
        }
      })
    )
})
