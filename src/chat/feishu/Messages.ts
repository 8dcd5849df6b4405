/** Converts events of Feishu and Lark (schema 2.0) to `Inbound`. Pure. */
import { maxTextLength } from "../Inbound.ts"
import type { Inbound, InboundMessage } from "../Inbound.ts"
import { listAt, objectAt, parseJson, textAt } from "../ReadJson.ts"
import type { JsonObject } from "../ReadJson.ts"

const ignored = (reason: string): Inbound => ({ _tag: "Ignored", reason })

const directoryChanges = /^(?:contact\.(?:user|department|scope)\.|im\.chat\.member\.)/

/** Text messages, and posts with one paragraph of text, have the same meaning; other kinds hold no command. */
const readText = (message: JsonObject): string | undefined => {
  if (textAt(message, ["message_type"]) !== "text") return undefined
  // The content is JSON in a text: an escaped command may be longer than the command.
  const content = parseJson(textAt(message, ["content"], maxTextLength * 8) ?? "")
  return textAt(content, ["text"], maxTextLength)
}

/** Separates the mention at the start; later ones become names. */
const splitMention = (text: string, mentions: ReadonlyArray<unknown>): Pick<InboundMessage, "text" | "mention"> => {
  const placeholder = /^\s*(@_user_\d{1,4})(?=\s|$)/.exec(text)?.[1]
  const first = mentions.slice(0, 100).find((mention) => textAt(mention, ["key"]) === placeholder)
  if (placeholder === undefined || first === undefined) return { text, mention: undefined }
  const id = textAt(first, ["id", "open_id"]) ?? ""
  return { text: text.slice(text.indexOf(placeholder) + placeholder.length), mention: id }
}

const conversationOf = (chatType: string | undefined, id: string) =>
  ({ kind: chatType === "p2p" ? "direct" : "group", id }) as const

const readMessage = (event: JsonObject): Inbound => {
  // Other bots mention this one as well: without this rule two bots could reply to each other for ever.
  if (textAt(event, ["sender", "sender_type"]) !== "user") return ignored("message of a bot")
  const sender = textAt(event, ["sender", "sender_id", "open_id"])
  const message = objectAt(event, "message")
  const id = textAt(message, ["message_id"])
  const chat = textAt(message, ["chat_id"])
  if (sender === undefined || id === undefined || chat === undefined) return ignored("message without a sender or id")
  const text = readText(message)
  if (text === undefined) return ignored("message that is not a text, or too long")
  return {
    _tag: "Message",
    // The platform may deliver one message as several events.
    key: `msg:${id}`,
    conversation: conversationOf(textAt(message, ["chat_type"]), chat),
    sender: { type: "feishu_open_id", id: sender },
    ...splitMention(text, listAt(message, "mentions")),
    reply: { messageId: id }
  }
}

const readAction = (eventId: string, event: JsonObject): Inbound => {
  const sender = textAt(event, ["operator", "open_id"])
  const chat = textAt(event, ["context", "open_chat_id"])
  const messageId = textAt(event, ["context", "open_message_id"])
  const actionId = textAt(event, ["action", "value", "aicr"], 128)
  if (sender === undefined || chat === undefined || actionId === undefined) return ignored("button of another card")
  return {
    _tag: "Action",
    key: `event:${eventId}`,
    // The kind is that of the card's request, which the action id names.
    conversation: { kind: "group", id: chat },
    sender: { type: "feishu_open_id", id: sender },
    actionId,
    reply: messageId === undefined ? {} : { messageId }
  }
}

/** `tenant`: that of the connection, if configured. */
export const readEvent = (payload: JsonObject, appId: string, tenant?: string): Inbound => {
  const header = objectAt(payload, "header")
  const type = textAt(header, ["event_type"])
  const id = textAt(header, ["event_id"], 128)
  if (type === undefined || id === undefined) return ignored("event of an old schema")
  if (textAt(header, ["app_id"]) !== appId) return ignored("event of another application")
  if (tenant !== undefined && textAt(header, ["tenant_key"]) !== tenant) return ignored("event of another tenant")
  const event = objectAt(payload, "event")
  if (type === "im.message.receive_v1") return readMessage(event)
  if (type === "card.action.trigger") return readAction(id, event)
  return directoryChanges.test(type) ? { _tag: "DirectoryChanged" } : ignored(`event ${type.slice(0, 60)}`)
}
