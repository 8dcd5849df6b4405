/**
 * Sends messages of a Slack app (docs.slack.dev: chat.postMessage, chat.update). Slack has no keys of messages: each message has its key as
 * metadata, and one that may have been sent is searched for by it before it is sent again.
 */
import { Clock, Duration, Effect } from "effect"
import { toSlackSections } from "../../outputs/SlackSections.ts"
import type { ChatClient, ChatText, ReplyAddress } from "../ChatClient.ts"
import { cutBytes } from "../platform/CutText.ts"
import { listAt, textAt } from "../platform/ReadJson.ts"
import type { SlackApi } from "./Api.ts"

/** All blocks of a message hold about 13,000 characters. */
const maxTextBytes = 11_000
/** Text for notifications of devices. */
const maxNotification = 150
const eventType = "aicr_message"
/** Messages of a thread among which an earlier one is searched. */
const maxSearched = "200"
/** Time for which an earlier message is searched. */
const searchedMillis = Duration.toMillis("1 day")
/** Workspaces may limit the time in which messages can be edited. */
const editableMillis = Duration.toMillis("1 hour")

const toContent = ({ buttons, text }: Pick<ChatText, "buttons" | "text">) => ({
  text: text.slice(0, maxNotification),
  blocks: [
    ...toSlackSections(cutBytes(text, maxTextBytes)),
    ...(buttons.length === 0
      ? []
      : [
          {
            type: "actions",
            elements: buttons.map(({ id, label }, index) => ({
              type: "button",
              action_id: `aicr_${index}`,
              text: { type: "plain_text", text: label.slice(0, 75), emoji: false },
              value: id
            }))
          }
        ])
  ],
  unfurl_links: false,
  unfurl_media: false
})

export const makeSlackClient = ({ read, write }: SlackApi): ChatClient => {
  /** Returns the time stamp of the message with this key, if it was sent. */
  const find = Effect.fnUntraced(function* ({ conversation, reply: { messageId } }: ReplyAddress, key: string) {
    const query = { channel: conversation.id, limit: maxSearched, include_all_metadata: "true" }
    const listed = yield* messageId === undefined
      ? read("conversations.history", query)
      : read("conversations.replies", { ...query, ts: messageId })
    const sent = listAt(listed, "messages").find(
      (message) => textAt(message, ["metadata", "event_payload", "key"]) === key
    )
    return textAt(sent, ["ts"])
  })
  return {
    markup: "slack",
    hasButtons: true,
    keyMillis: searchedMillis,
    send: Effect.fnUntraced(function* (to, message, key) {
      const { messageId } = to.reply
      const earlier = message.isRepeat ? yield* find(to, key) : undefined
      const response =
        earlier === undefined
          ? yield* write("chat.postMessage", {
              channel: to.conversation.id,
              ...(messageId === undefined ? {} : { thread_ts: messageId }),
              ...toContent(message),
              metadata: { event_type: eventType, event_payload: { key } }
            })
          : { ts: earlier }
      const id = textAt(response, ["ts"])
      return { ...(id === undefined ? {} : { messageId: id }), at: yield* Clock.currentTimeMillis }
    }),
    edit: (to, { messageId = "" }, message) =>
      Effect.asVoid(write("chat.update", { channel: to.conversation.id, ts: messageId, ...toContent(message) })),
    isEditable: ({ at, messageId }, now) => messageId !== undefined && now - at < editableMillis,
    isMention: () => Effect.succeed(true),
    check: Effect.asVoid(write("auth.test", {}))
  }
}
