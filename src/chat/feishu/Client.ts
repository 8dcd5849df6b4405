/** Sends messages of a Feishu or Lark application (open.feishu.cn: im-v1). Replies are cards, which can be edited for 14 days. */
import { Clock, Effect } from "effect"
import type { ChatClient, ChatText } from "../ChatClient.ts"
import { cutBytes } from "../platform/CutText.ts"
import { textAt } from "../platform/ReadJson.ts"
import type { FeishuApi } from "./Api.ts"

/** A card may have 30 KB with everything around the text. */
const maxTextBytes = 24_000
const hourMillis = 60 * 60 * 1000
/** Cards can be edited for 14 days. */
const editableMillis = 13 * 24 * hourMillis

const toCard = ({ buttons, text }: Pick<ChatText, "buttons" | "text">) => ({
  schema: "2.0",
  config: { update_multi: true },
  body: {
    elements: [
      { tag: "markdown", content: cutBytes(text, maxTextBytes) },
      ...buttons.map(({ id, label }) => ({
        tag: "button",
        text: { tag: "plain_text", content: label },
        behaviors: [{ type: "callback", value: { aicr: id } }]
      }))
    ]
  }
})

export const makeFeishuClient = ({ call }: FeishuApi): ChatClient => {
  let botId: string | undefined
  const readBotId = Effect.gen(function* () {
    botId ??= textAt(yield* call("GET", "/open-apis/bot/v3/info", "/open-apis/bot/v3/info"), ["bot", "open_id"])
    return botId
  })
  const messages = "/open-apis/im/v1/messages"
  return {
    markup: "feishu",
    hasButtons: true,
    keyMillis: hourMillis,
    send: Effect.fnUntraced(function* (to, message, key) {
      const body = { msg_type: "interactive", content: JSON.stringify(toCard(message)), uuid: key }
      const { messageId } = to.reply
      const response =
        messageId === undefined
          ? yield* call("POST", `${messages}?receive_id_type=chat_id`, messages, {
              ...body,
              receive_id: to.conversation.id
            })
          : yield* call("POST", `${messages}/${encodeURIComponent(messageId)}/reply`, `${messages}/{id}/reply`, body)
      const id = textAt(response, ["data", "message_id"])
      return { ...(id === undefined ? {} : { messageId: id }), at: yield* Clock.currentTimeMillis }
    }),
    edit: (_to, sent, message) =>
      call("PATCH", `${messages}/${encodeURIComponent(sent.messageId ?? "")}`, `${messages}/{id}`, {
        content: JSON.stringify(toCard(message))
      }).pipe(Effect.asVoid),
    isEditable: ({ at, messageId }, now) => messageId !== undefined && now - at < editableMillis,
    isMention: (mention) => Effect.map(readBotId, (id) => id === mention),
    check: Effect.asVoid(readBotId)
  }
}
