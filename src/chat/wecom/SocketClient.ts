/**
 * Sends messages of a WeCom bot over its long connection. A reply is a stream with an id of ours: sent again with the same id it replaces the
 * text, for six minutes. After that, and where the message that is replied to is unknown to the platform, a message is pushed into the
 * conversation; it has no key, so that it is never sent twice.
 */
import { Clock, Effect } from "effect"
import { requestFailed } from "../../forge/ForgeError.ts"
import { newId } from "../../domain/Ids.ts"
import type { ChatClient, ChatText, ReplyAddress } from "../ChatClient.ts"
import { cutBytes } from "../platform/CutText.ts"
import { toTemplateCard } from "./Card.ts"
import { botTextBytes } from "./Client.ts"
import type { WecomRequests } from "./Requests.ts"

const streamMillis = 6 * 60 * 1000
/** Margin for clocks and for the way to the platform. */
const marginMillis = 30_000
/** Maximum content of a stream. */
const streamBytes = 20_000

const unconfirmed = (operation: string) => requestFailed("unknown_outcome", operation, { _tag: "MayBeDelivered" })

export const makeWecomSocketClient = (requests: WecomRequests): ChatClient => {
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
