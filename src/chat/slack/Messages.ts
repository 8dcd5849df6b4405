/** Converts what Slack sends over a long connection to `Inbound`. Pure. */
import { maxTextLength, noText } from "../Inbound.ts"
import type { Inbound } from "../Inbound.ts"
import { listAt, objectAt, textAt } from "../platform/ReadJson.ts"
import type { JsonObject } from "../platform/ReadJson.ts"

const ignored = (reason: string): Inbound => ({ _tag: "Ignored", reason })

/** Messages of people; edits, joins and messages of bots have other subtypes. */
const subtypes: ReadonlySet<string | undefined> = new Set([undefined, "file_share", "thread_broadcast"])
const directoryChanges: ReadonlySet<string> = new Set([
  "member_joined_channel",
  "member_left_channel",
  "subteam_created",
  "subteam_members_changed",
  "subteam_updated",
  "user_change"
])

const mention = /<@[UW][A-Z0-9]{1,30}(?:\|[^<>]{0,100})?>/g
/** A link or the name of a channel, which Slack makes of plain words. */
const reference = /<[#!]?([^<>|]{1,1000})(?:\|([^<>|]{0,1000}))?>/g
const escapes: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">" }

/** Returns the text as its author wrote it, without mentions. */
const readText = (text: string): string =>
  text
    .replace(mention, " ")
    .replace(reference, (_, target: string, label: string | undefined) =>
      label === undefined || label === "" ? target : label
    )
    .replace(/&(?:amp|lt|gt);/g, (escape) => escapes[escape] ?? escape)
    .trim()

const readMessage = (event: JsonObject, isMention: boolean): Inbound => {
  // Without this rule two bots could reply to each other for ever.
  if (textAt(event, ["bot_id"]) !== undefined || !subtypes.has(textAt(event, ["subtype"])))
    return ignored("message of a bot, or no message of a person")
  const sender = textAt(event, ["user"])
  const channel = textAt(event, ["channel"])
  const at = textAt(event, ["ts"])
  if (sender === undefined || channel === undefined || at === undefined)
    return ignored("message without a sender or id")
  const isDirect = textAt(event, ["channel_type"]) === "im" || channel.startsWith("D")
  // A message that mentions the bot arrives as an event of its own, too.
  if (!isDirect && !isMention) return ignored("message in a channel that does not mention the bot")
  const given = textAt(event, ["text"], maxTextLength * 4)
  const text = given === undefined ? "" : readText(given)
  return {
    _tag: "Message",
    key: `msg:${channel}:${at}`,
    conversation: { kind: isDirect ? "direct" : "group", id: channel },
    sender: { type: "slack_user", id: sender },
    text: text === "" || text.length > maxTextLength ? noText : text,
    mention: isMention ? true : undefined,
    // A reply to a message in a thread stays in it.
    reply: { messageId: textAt(event, ["thread_ts"]) ?? at }
  }
}

const readEvent = (payload: JsonObject): Inbound => {
  const event = objectAt(payload, "event")
  const type = textAt(event, ["type"]) ?? ""
  if (type === "app_mention" || type === "message") return readMessage(event, type === "app_mention")
  return directoryChanges.has(type) ? { _tag: "DirectoryChanged" } : ignored(`event ${type.slice(0, 60)}`)
}

/** A button of a message of ours has its single-use id as its value. */
const readAction = (payload: JsonObject): Inbound => {
  const [action] = listAt(payload, "actions")
  const sender = textAt(payload, ["user", "id"])
  const channel = textAt(payload, ["channel", "id"])
  const messageId = textAt(payload, ["message", "thread_ts"]) ?? textAt(payload, ["message", "ts"])
  const actionId = textAt(action, ["value"], 128)
  const at = textAt(action, ["action_ts"])
  const isOurs = textAt(action, ["action_id"])?.startsWith("aicr") === true
  if (!isOurs || sender === undefined || channel === undefined || actionId === undefined || at === undefined)
    return ignored("button of another message")
  return {
    _tag: "Action",
    key: `action:${sender}:${at}`,
    // The kind is that of the request of the message, which the action id names.
    conversation: { kind: "group", id: channel },
    sender: { type: "slack_user", id: sender },
    actionId,
    reply: messageId === undefined ? {} : { messageId }
  }
}

/** `appId`: that of the connection, if configured. */
export const readEnvelope = (type: string, payload: JsonObject, appId?: string): Inbound => {
  const app = textAt(payload, ["api_app_id"])
  if (appId !== undefined && app !== undefined && app !== appId) return ignored("event of another application")
  if (type === "events_api") return readEvent(payload)
  return type === "interactive" && textAt(payload, ["type"]) === "block_actions"
    ? readAction(payload)
    : ignored(`envelope ${type.slice(0, 60)}`)
}
