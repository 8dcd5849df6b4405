/**
 * Messages of a Slack app (docs.slack.dev: chat.postMessage). Slack has no keys of messages: each message has its key as metadata, and one that
 * may have been sent is found by it.
 */
import { Effect } from "effect"
import type { SlackApi } from "./ChatApps.ts"
import { listAt, textAt } from "./platform/ReadJson.ts"

/** Place of a message: a conversation, or a thread in it, which is named by the time stamp of its first message. */
interface SlackPlace {
  readonly channel: string
  readonly thread: string | undefined
}

const eventType = "aicr_message"

export const isSlackPerson = (id: string): boolean => /^[UW]/.test(id)

/** Returns the conversation of this id: that of the app with one person for the id of a person (scope `im:write`). Opening it has no effect on people. */
export const openSlackConversation = ({ write }: SlackApi, id: string) =>
  isSlackPerson(id)
    ? Effect.map(write("conversations.open", { users: id }), (response) => textAt(response, ["channel", "id"]) ?? id)
    : Effect.succeed(id)

/** `content`: text and blocks. Returns the time stamp of the message, by which it is edited. */
export const postSlackMessage = ({ write }: SlackApi, { channel, thread }: SlackPlace, content: object, key: string) =>
  Effect.map(
    write("chat.postMessage", {
      channel,
      ...(thread === undefined ? {} : { thread_ts: thread }),
      ...content,
      unfurl_links: false,
      unfurl_media: false,
      metadata: { event_type: eventType, event_payload: { key } }
    }),
    (response) => textAt(response, ["ts"])
  )

/** Returns the time stamp of the message with this key, if it was sent since a time in milliseconds since the epoch. */
export const findSlackMessage = (
  { readAll }: SlackApi,
  { channel, thread }: SlackPlace,
  key: string,
  since: number
) => {
  const query = { channel, include_all_metadata: "true", oldest: String(Math.max(0, Math.floor(since / 1000))) }
  const messages = (page: Parameters<typeof listAt>[0]) => listAt(page, "messages")
  const listed =
    thread === undefined
      ? readAll("conversations.history", query, messages)
      : readAll("conversations.replies", { ...query, ts: thread }, messages)
  return Effect.map(listed, (all) =>
    textAt(
      all.find((message) => textAt(message, ["metadata", "event_payload", "key"]) === key),
      ["ts"]
    )
  )
}
