/**
 * Sends the replies of a Slack app, and edits them (docs.slack.dev: chat.update).
 */
import { Clock, Duration, Effect } from "effect"
import { toSlackSections } from "../../outputs/SlackSections.ts"
import type { ChatClient, ChatText } from "../ChatClient.ts"
import { cutBytes } from "../platform/CutText.ts"
import { findSlackMessage, postSlackMessage } from "../SlackMessages.ts"
import type { SlackApi } from "./Api.ts"

/** All blocks of a message hold about 13,000 characters. */
const maxTextBytes = 11_000
/** Text for notifications of devices. */
const maxNotification = 150
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
  ]
})

export const makeSlackClient = (api: SlackApi): ChatClient => {
  const { write } = api
  return {
    markup: "slack",
    hasButtons: true,
    keyMillis: searchedMillis,
    send: Effect.fnUntraced(function* ({ conversation, reply }, message, key) {
      const place = { channel: conversation.id, thread: reply.messageId }
      const at = yield* Clock.currentTimeMillis
      const earlier = message.isRepeat ? yield* findSlackMessage(api, place, key, at - searchedMillis) : undefined
      const id = earlier ?? (yield* postSlackMessage(api, place, toContent(message), key))
      return { ...(id === undefined ? {} : { messageId: id }), at: yield* Clock.currentTimeMillis }
    }),
    edit: (to, { messageId = "" }, message) =>
      Effect.asVoid(write("chat.update", { channel: to.conversation.id, ts: messageId, ...toContent(message) })),
    isEditable: ({ at, messageId }, now) => messageId !== undefined && now - at < editableMillis,
    isMention: () => Effect.succeed(true),
    check: Effect.asVoid(write("auth.test", {}))
  }
}
