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
import { requestFailed } from "../../forge/ForgeError.ts"
import type { ChatClient, ChatText, ReplyAddress } from "../ChatClient.ts"
import { cutBytes } from "../platform/CutText.ts"
import { toTemplateCard } from "./Card.ts"
import { botTextBytes } from "./Client.ts"

const streamMillis = 6 * 60 * 1000
/** Margin for clocks and for the way to the platform. */
const marginMillis = 30_000
/** Maximum content of a stream. */
const streamBytes = 20_000

const unconfirmed = (operation: string) => requestFailed("unknown_outcome", operation, { _tag: "MayBeDelivered" })

/**
 * Sends messages of a WeCom bot over its long connection. A reply is a stream with an id of ours: sent again with the same id it replaces the
 * text, for six minutes. After that, and where the message that is replied to is unknown to the platform, a message is pushed into the
 * conversation; it has no key, so that it is never sent twice.
 */
const makeWecomSocketClient = (requests: WecomRequests): ChatClient => {
  const stream = (requestId: string, id: string, { isFinal, text }: ChatText) =>
    requests.send("aibot_respond_msg", requestId, {
      msgtype: "stream",
      stream: { id, finish: isFinal, content: cutBytes(text, streamBytes) }
    })
  const push = ({ conversation }: ReplyAddress, { isRepeat, text }: ChatText) =>
    isRepeat
      ? Effect.fail(unconfirmed("aibot_send_msg"))
      : requests.send("aibot_send_msg", `aicr_${newId()}`, {
          chatid: conversation.id,
          msgtype: "markdown",
          markdown: { content: cutBytes(text, botTextBytes) }
        })
  /** Pushes a card with the buttons. It has no key: one that may have been sent is not sent again. */
  const pushCard = ({ conversation }: ReplyAddress, message: ChatText, id: string) =>
    message.buttons.length === 0 || message.isRepeat
      ? Effect.void
      : requests
          .send("aibot_send_msg", `aicr_${newId()}`, {
            chatid: conversation.id,
            msgtype: "template_card",
            template_card: toTemplateCard(message, id)
          })
          .pipe(Effect.catch((error) => Effect.logWarning("chat buttons not sent", { error: error.message })))
  /** Replies, or pushes if the platform no longer takes replies to this message. */
  const replyOrPush = (to: ReplyAddress, id: string, message: ChatText) => {
    const { requestId } = to.reply
    return requestId === undefined
      ? push(to, message)
      : Effect.catchIf(
          stream(requestId, id, message),
          ({ reason }) => reason === "not_found" || reason === "conflict",
          () => push(to, message)
        )
  }
  return {
    markup: "wecom",
    hasButtons: true,
    keyMillis: streamMillis,
    send: Effect.fnUntraced(function* (to, message, key) {
      yield* replyOrPush(to, key, message)
      yield* pushCard(to, message, key)
      return { streamId: key, at: yield* Clock.currentTimeMillis }
    }),
    edit: Effect.fnUntraced(function* (to, { streamId = "" }, message) {
      yield* replyOrPush(to, streamId, message)
      if (message.isFinal) yield* pushCard(to, message, `${streamId}_end`)
    }),
    isEditable: ({ at, streamId }, now) => streamId !== undefined && now - at < streamMillis - marginMillis,
    isMention: () => Effect.succeed(true),
    // The state of the connection is that of its socket.
    check: Effect.void
  }
}

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
