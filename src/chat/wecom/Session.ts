/**
 * The long connection of a WeCom bot (developer.work.weixin.qq.com, 101463): JSON in text frames. It begins with a subscription; the platform
 * then sends messages, and ends an older connection of the same bot with `disconnected_event`. Messages have no acknowledgement: they are
 * stored immediately. The platform responds to each ping; a connection on which nothing arrives after a ping is lost.
 */
import { Clock, Duration, Effect, Redacted } from "effect"
import type { Reason } from "../../domain/Reason.ts"
import type { ForgeError } from "../../forge/ForgeError.ts"
import { newId } from "../../domain/Ids.ts"
import { ChatSessionEnd } from "../ChatSession.ts"
import type { ChatSession, ChatHandlers } from "../ChatSession.ts"
import { objectAt, parseJson, textAt } from "../platform/ReadJson.ts"
import type { JsonObject } from "../platform/ReadJson.ts"
import { openSocket } from "../platform/Socket.ts"
import type { ChatSocket } from "../platform/Socket.ts"
import { readBotMessage } from "./Messages.ts"
import type { WecomBot } from "./Messages.ts"
import { subscribeCommand, WecomRequests } from "./Requests.ts"
import { makeWecomSocketClient } from "./SocketClient.ts"

interface WecomSocketBot {
  /** Address of the platform's long connections. */
  readonly url: string
  readonly botId: string
  /** Name of the bot in mentions. */
  readonly botName?: string | undefined
  readonly secret: Redacted.Redacted
  readonly pingMillis?: number | undefined
}

const defaultPingMillis = 30_000
const maxPongMillis = 10_000
const maxRequestId = 200

const ended = (reason: ChatSessionEnd["reason"], why: Reason): ChatSessionEnd => new ChatSessionEnd({ reason, why })

const toEnd = ({ reason, why }: ForgeError): ChatSessionEnd => {
  if (reason === "unavailable" || reason === "unknown_outcome") return ended("lost", why)
  return ended(reason === "rate_limited" ? "limited" : "refused", why)
}

interface Connection {
  readonly socket: ChatSocket
  readonly requests: WecomRequests
  readonly handlers: ChatHandlers
  readonly bot: WecomBot
  lastReceivedAt: number
}

/** Stores a message. One that cannot be stored ends the connection: the platform has no other way to deliver it again. */
const handle = Effect.fnUntraced(function* ({ bot, handlers }: Connection, body: JsonObject, requestId: string) {
  const inbound = readBotMessage({ aibotid: bot.id, ...body }, bot, requestId)
  if (inbound._tag === "Kicked") return yield* ended("kicked", { _tag: "OtherConnectionOpened" })
  yield* Effect.mapError(handlers.receive(inbound), ({ message }) =>
    ended("lost", { _tag: "MessageNotStored", error: message })
  )
})

const read = Effect.fnUntraced(function* (connection: Connection): Effect.fn.Return<never, ChatSessionEnd> {
  for (;;) {
    const message = yield* connection.socket.take
    connection.lastReceivedAt = yield* Clock.currentTimeMillis
    const frame = typeof message === "string" ? parseJson(message) : undefined
    const requestId = textAt(frame, ["headers", "req_id"], maxRequestId)
    if (frame === undefined || requestId === undefined) continue
    const command = textAt(frame, ["cmd"])
    if (command === "aibot_msg_callback" || command === "aibot_event_callback")
      yield* handle(connection, objectAt(frame, "body"), requestId)
    else if (command === undefined) connection.requests.acknowledge(requestId, frame)
  }
})

const ping = Effect.fnUntraced(function* (
  connection: Connection,
  pingMillis: number
): Effect.fn.Return<never, ChatSessionEnd> {
  const pongMillis = Math.min(maxPongMillis, pingMillis)
  for (;;) {
    yield* Effect.sleep(Duration.millis(Math.max(0, pingMillis - pongMillis)))
    const sentAt = yield* Clock.currentTimeMillis
    yield* connection.socket.send(JSON.stringify({ cmd: "ping", headers: { req_id: `ping_${newId()}` } }))
    yield* Effect.sleep(Duration.millis(pongMillis))
    if (connection.lastReceivedAt < sentAt) return yield* ended("lost", { _tag: "SilentAfterPing" })
  }
})

/** `secret`: that of the long connection. */
const subscribe = ({ requests }: Connection, botId: string, secret: Redacted.Redacted) =>
  Effect.mapError(
    requests.send(
      subscribeCommand,
      `${subscribeCommand}_${newId()}`,
      { bot_id: botId, secret: Redacted.value(secret) },
      [Redacted.value(secret)]
    ),
    toEnd
  )

export const makeWecomSession = (
  { botId, botName, pingMillis = defaultPingMillis, secret, url }: WecomSocketBot,
  key: string
): ChatSession => {
  const requests = new WecomRequests()
  return {
    key,
    client: makeWecomSocketClient(requests),
    run: (handlers) =>
      Effect.scoped(
        Effect.gen(function* () {
          const socket = yield* openSocket(url)
          yield* Effect.addFinalizer(() => Effect.sync(() => requests.connect(undefined)))
          const connection: Connection = {
            socket,
            requests,
            handlers,
            bot: { id: botId, name: botName },
            lastReceivedAt: 0
          }
          requests.connect(socket)
          const start = subscribe(connection, botId, secret).pipe(
            Effect.andThen(Effect.sync(() => requests.subscribed())),
            Effect.andThen(handlers.ready(undefined))
          )
          return yield* Effect.raceFirst(read(connection), Effect.andThen(start, ping(connection, pingMillis)))
        })
      )
  }
}
