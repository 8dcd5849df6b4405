/** Sends messages of a WeCom application (developer.work.weixin.qq.com, 90236), and replies of a bot through the address of its callback. */
import { Clock, Effect } from "effect"
import { requestFailed } from "../../forge/ForgeError.ts"
import { ChatSends } from "../../store/ChatSends.ts"
import type { ChatClient, ChatText } from "../ChatClient.ts"
import { cutBytes } from "../platform/CutText.ts"
import { withinDailyPersons } from "../DailyPersons.ts"
import type { LimitedApp } from "../DailyPersons.ts"
import { callPlatform } from "../platform/PlatformCall.ts"
import { textAt } from "../platform/ReadJson.ts"
import type { WecomApi } from "./Api.ts"
import { toTemplateCard } from "./Card.ts"
import { duplicateCheck, keySeconds } from "./DuplicateCheck.ts"

const appTextBytes = 2048
export const botTextBytes = 4096

/**
 * Messages cannot be edited, so that progress is a card with buttons, sent once. A result is a message, followed by a card if it has buttons.
 */
export const makeWecomAppClient = (
  { check, post }: WecomApi,
  app: LimitedApp,
  sends: ChatSends["Service"]
): ChatClient => {
  const path = "/cgi-bin/message/send"
  const { agentId } = app
  const sendTo = Effect.fnUntraced(function* (person: string, content: object, key: string) {
    const agentid = /^\d+$/.test(agentId) ? Number(agentId) : agentId
    const body = { touser: person, agentid, ...content, ...duplicateCheck(key) }
    const response = yield* Effect.provideService(withinDailyPersons(app, 1, post(path, body)), ChatSends, sends)
    if (textAt(response, ["invaliduser"], 4096) !== undefined)
      return yield* requestFailed("forbidden", `POST ${path}`, { _tag: "OutOfVisibleRange" })
    return textAt(response, ["msgid"])
  })
  const sendCard = (person: string, message: ChatText, key: string) =>
    sendTo(person, { msgtype: "template_card", template_card: toTemplateCard(message, key) }, key)
  return {
    markup: "wecom",
    hasButtons: true,
    keyMillis: keySeconds * 1000,
    send: Effect.fnUntraced(function* (to, message, key) {
      const person = to.sender.id
      const markdown = { msgtype: "markdown", markdown: { content: cutBytes(message.text, appTextBytes) } }
      const hasCard = message.buttons.length > 0
      const id =
        hasCard && !message.isFinal ? yield* sendCard(person, message, key) : yield* sendTo(person, markdown, key)
      if (hasCard && message.isFinal)
        yield* Effect.catch(sendCard(person, message, `${key}_card`), (error) =>
          Effect.logWarning("chat buttons not sent", { error: error.message })
        )
      return { ...(id === undefined ? {} : { messageId: id }), at: yield* Clock.currentTimeMillis }
    }),
    edit: undefined,
    isEditable: () => false,
    isMention: () => Effect.succeed(false),
    check
  }
}

/** An address of a callback takes one message, and a card has no room for a result: no buttons. `baseUrl`: that of the platform. The path of a reply comes from the callback, so that no other server gets the message. */
export const makeWecomBotClient = (baseUrl: string): ChatClient => ({
  markup: "wecom",
  hasButtons: false,
  keyMillis: 0,
  send: Effect.fnUntraced(function* (to, message) {
    const { responsePath } = to.reply
    const operation = "POST response_url"
    if (responsePath === undefined) return yield* requestFailed("invalid", operation, { _tag: "NoReplyAddress" })
    const body = { msgtype: "markdown", markdown: { content: cutBytes(message.text, botTextBytes) } }
    const url = `${baseUrl}${responsePath}`
    yield* callPlatform({ operation, method: "POST", url, body, writes: true, secrets: [responsePath] })
    return { at: yield* Clock.currentTimeMillis }
  }),
  edit: undefined,
  isEditable: () => false,
  isMention: () => Effect.succeed(true),
  check: Effect.void
})
