/** Sends messages of a WeCom application (developer.work.weixin.qq.com, 90236), and replies of a bot through the address of its callback. */
import { Clock, Effect } from "effect"
import { ForgeError } from "../../forge/ForgeError.ts"
import type { ChatClient } from "../ChatClient.ts"
import { cutBytes } from "../CutText.ts"
import { callPlatform } from "../PlatformCall.ts"
import { textAt } from "../ReadJson.ts"
import type { WecomApi } from "./Api.ts"
import { withinDailyPersons } from "./DailyPersons.ts"
import type { LimitedApp } from "./DailyPersons.ts"
import { duplicateCheck, keySeconds } from "./DuplicateCheck.ts"

const appTextBytes = 2048
export const botTextBytes = 4096

export const makeWecomAppClient = ({ check, post }: WecomApi, app: LimitedApp): ChatClient => ({
  markup: "wecom",
  hasButtons: false,
  keyMillis: keySeconds * 1000,
  send: Effect.fnUntraced(function* (to, message, key) {
    const { agentId } = app
    const sending = post("/cgi-bin/message/send", {
      touser: to.sender.id,
      msgtype: "markdown",
      agentid: /^\d+$/.test(agentId) ? Number(agentId) : agentId,
      markdown: { content: cutBytes(message.text, appTextBytes) },
      ...duplicateCheck(key)
    })
    const response = yield* withinDailyPersons(app, 1, sending)
    if (textAt(response, ["invaliduser"], 4096) !== undefined)
      return yield* new ForgeError({
        reason: "forbidden",
        operation: "POST /cgi-bin/message/send",
        message: "POST /cgi-bin/message/send: the person does not see the application; extend its visible range"
      })
    const id = textAt(response, ["msgid"])
    return { ...(id === undefined ? {} : { messageId: id }), at: yield* Clock.currentTimeMillis }
  }),
  edit: undefined,
  isEditable: () => false,
  isMention: () => Effect.succeed(false),
  check
})

/** `baseUrl`: that of the platform. The path of a reply comes from the callback, so that no other server gets the message. */
export const makeWecomBotClient = (baseUrl: string): ChatClient => ({
  markup: "wecom",
  hasButtons: false,
  keyMillis: 0,
  send: Effect.fnUntraced(function* (to, message) {
    const { responsePath } = to.reply
    const operation = "POST response_url"
    if (responsePath === undefined)
      return yield* new ForgeError({
        reason: "invalid",
        operation,
        message: `${operation}: the callback had no address for a reply, or it was used already`
      })
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
