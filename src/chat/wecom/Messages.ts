/** Converts messages of WeCom applications (XML, 90239 and 90240) and of its bots (JSON, 100719) to `Inbound`. Pure. */
import type { ReplyTarget } from "../../domain/ChatRequest.ts"
import { maxTextLength, noText } from "../Inbound.ts"
import type { Inbound } from "../Inbound.ts"
import { listAt, objectAt, textAt } from "../platform/ReadJson.ts"
import type { JsonObject } from "../platform/ReadJson.ts"
import { childText } from "./Xml.ts"
import type { XmlElement } from "./Xml.ts"

const ignored = (reason: string): Inbound => ({ _tag: "Ignored", reason })

const isId = (id: string | undefined): id is string => id !== undefined && /^[^\p{Cc}\p{Zl}\p{Zp}]{1,128}$/u.test(id)

/** An event of a platform that changes members, departments or tags. */
const directoryEvents = new Set(["change_contact", "batch_job_result"])

const directConversation = (id: string) => ({ kind: "direct", id }) as const

/** Reads the decrypted XML of an application. `agentId`: that of the connection. */
export const readAppMessage = (xml: XmlElement, agentId: string): Inbound => {
  const field = (name: string): string | undefined => childText(xml, name)
  const kind = field("MsgType")
  const event = field("Event")
  if (kind === "event" && event !== undefined && directoryEvents.has(event)) return { _tag: "DirectoryChanged" }
  if (field("AgentID") !== agentId) return ignored("message of another application")
  const from = field("FromUserName")
  const created = field("CreateTime")
  if (!isId(from) || created === undefined || !/^\d{1,12}$/.test(created)) return ignored("message without a sender")
  const sender = { type: "wecom_userid", id: from } as const
  const conversation = directConversation(from)
  if (kind === "event" && event === "template_card_event") {
    const actionId = field("EventKey")
    // Events have no id: sender, time and button name them (developer.work.weixin.qq.com, 90238).
    const key = `event:${from}:${created}:${actionId ?? ""}`.slice(0, 300)
    return isId(actionId)
      ? { _tag: "Action", key, conversation, sender, actionId, reply: {} }
      : ignored("card event without a key")
  }
  const id = field("MsgId")
  const text = field("Content")
  if (kind === undefined || kind === "event") return ignored(`message of kind ${(kind ?? "none").slice(0, 30)}`)
  if (!isId(id)) return ignored("message without an id")
  const isText = kind === "text" && text !== undefined && text.length <= maxTextLength
  const reply = { messageId: id }
  return {
    _tag: "Message",
    key: `msg:${id}`,
    conversation,
    sender,
    text: isText ? text : noText,
    mention: undefined,
    reply
  }
}

/**
 * Bots in groups get only messages that mention them, as `@` and the name of the bot. Where a name with spaces ends only the configuration
 * defines. Mentions of one word are not part of a command (Command.ts).
 */
const withoutMention = (text: string, botName: string | undefined): string =>
  botName === undefined ? text : text.replaceAll(`@${botName}`, " ")

/** Returns the text of a message: of a voice message what the platform recognised, of a mixed one its texts. */
const readBotText = (message: JsonObject, kind: string | undefined): string | undefined => {
  if (kind === "text" || kind === "voice") return textAt(message, [kind, "content"], maxTextLength)
  if (kind !== "mixed") return undefined
  const texts = listAt(message, "mixed", "msg_item").slice(0, 100)
  const text = texts.flatMap((item) => textAt(item, ["text", "content"], maxTextLength) ?? []).join(" ")
  return text === "" || text.length > maxTextLength ? undefined : text
}

const pathOf = (url: string | undefined): ReplyTarget => {
  if (url === undefined || !URL.canParse(url)) return {}
  const { pathname, search } = new URL(url)
  return { responsePath: `${pathname}${search}` }
}

/** Identity of a bot. `name`: as people mention it. */
export interface WecomBot {
  readonly id: string | undefined
  readonly name: string | undefined
}

/** Reads the JSON of a bot. `requestId`: that of a frame of the long connection. */
export const readBotMessage = (message: JsonObject, bot: WecomBot, requestId?: string): Inbound => {
  const kind = textAt(message, ["msgtype"])
  const event = textAt(message, ["event", "eventtype"])
  if (kind === "event" && event === "disconnected_event") return { _tag: "Kicked" }
  if (bot.id !== undefined && textAt(message, ["aibotid"]) !== bot.id) return ignored("message of another bot")
  const from = textAt(message, ["from", "userid"], 128)
  const id = textAt(message, ["msgid"], 200)
  if (!isId(from) || !isId(id)) return ignored("message without a sender or an id")
  // The corporation's own users have plain ids; others come with the id of their corporation.
  const type = textAt(message, ["from", "corpid"]) === undefined ? "wecom_userid" : "wecom_encrypted_userid"
  const group = textAt(message, ["chattype"]) === "group"
  const chat = textAt(message, ["chatid"], 128)
  if (group && !isId(chat)) return ignored("group message without a chat")
  const conversation = group && chat !== undefined ? ({ kind: "group", id: chat } as const) : directConversation(from)
  const reply: ReplyTarget = {
    ...(requestId === undefined ? {} : { requestId }),
    ...pathOf(textAt(message, ["response_url"], 1000))
  }
  const sender = { type, id: from } as const
  if (kind === "event" && event === "template_card_event") {
    const card = objectAt(message, "event", "template_card_event")
    const actionId = textAt(card, ["event_key"], 128) ?? textAt(card, ["eventkey"], 128)
    // The platform takes no stream as the reply to an event: its result is pushed.
    const { requestId: _stream, ...eventReply } = reply
    return isId(actionId)
      ? { _tag: "Action", key: `msg:${id}`, conversation, sender, actionId, reply: eventReply }
      : ignored("card event without a key")
  }
  if (kind === undefined || kind === "event") return ignored(`message of kind ${(kind ?? "none").slice(0, 30)}`)
  const text = readBotText(message, kind) ?? noText
  return {
    _tag: "Message",
    key: `msg:${id}`,
    conversation,
    sender,
    text: group ? withoutMention(text, bot.name) : text,
    mention: group ? true : undefined,
    reply
  }
}
