/** Converts events of Feishu and Lark (schema 2.0) to `Inbound`. Pure. */
import { maxTextLength, noText } from "../Inbound.ts"
import type { Inbound, InboundMessage } from "../Inbound.ts"
import { listAt, objectAt, parseJson, textAt } from "../platform/ReadJson.ts"
import type { JsonObject } from "../platform/ReadJson.ts"

const ignored = (reason: string): Inbound => ({ _tag: "Ignored", reason })

const directoryChanges = /^(?:contact\.(?:user|department|scope)\.|im\.chat\.member\.)/

/** A part of a post: a text, a link with a text, or a mention with its placeholder. */
const readElement = (element: unknown): string =>
  textAt(element, ["tag"]) === "at"
    ? ` ${textAt(element, ["user_id"]) ?? ""} `
    : (textAt(element, ["text"], maxTextLength) ?? "")

/** Joins the paragraphs of a post, which the desktop client sends for a text with formatting. */
const readPost = (content: JsonObject): string =>
  listAt(content, "content")
    .slice(0, maxParagraphs)
    .map((paragraph) => (Array.isArray(paragraph) ? paragraph.slice(0, maxElements).map(readElement).join("") : ""))
    .join("\n")
    .trim()

const maxParagraphs = 200
const maxElements = 100

/** Returns a text or a post; undefined for other kinds, and for what is too long for a command. */
const readText = (message: JsonObject): string | undefined => {
  const kind = textAt(message, ["message_type"])
  // The content is JSON in a text: an escaped command may be longer than the command.
  const content = parseJson(textAt(message, ["content"], maxTextLength * 8) ?? "")
  if (content === undefined) return undefined
  if (kind === "text") return textAt(content, ["text"], maxTextLength)
  const text = kind === "post" ? readPost(content) : ""
  return text === "" || text.length > maxTextLength ? undefined : text
}

const placeholder = /@_user_\d{1,4}/g
const maxMentions = 100

/**
 * Separates the mentions from the text: a person may write the one of this bot anywhere. In a direct conversation, and after the word `aicr`,
 * only one at the start decides whom the text is for.
 */
const splitMentions = (
  text: string,
  listed: ReadonlyArray<unknown>,
  isDirect: boolean
): Pick<InboundMessage, "text" | "mention"> => {
  const mentions = listed.slice(0, maxMentions)
  const ids = new Map(mentions.map((one) => [textAt(one, ["key"]) ?? "", textAt(one, ["id", "open_id"]) ?? ""]))
  const [first] = /^@_user_\d{1,4}/.exec(text.trimStart()) ?? []
  const rest = text.replace(placeholder, (key) => (ids.has(key) ? " " : key)).trim()
  const isNamed = isDirect || /^\/?aicr(?:\s|$)/i.test(text.trimStart())
  const named = first !== undefined && ids.has(first) ? [ids.get(first) ?? ""] : []
  const mention = isNamed ? named : [...ids.values()]
  return { text: rest, mention: mention.length === 0 ? undefined : mention }
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
  const mentions = listAt(message, "mentions")
  const conversation = conversationOf(textAt(message, ["chat_type"]), chat)
  const isDirect = conversation.kind === "direct"
  // What is no text gets the hint that a wrong command gets, where it is for this bot: a picture in a group may be for anyone.
  const text = readText(message) ?? (isDirect || mentions.length > 0 ? noText : undefined)
  if (text === undefined) return ignored("message that is not a text, or too long")
  return {
    _tag: "Message",
    // The platform may deliver one message as several events.
    key: `msg:${id}`,
    conversation,
    sender: { type: "feishu_open_id", id: sender },
    ...splitMentions(text, mentions, isDirect),
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
