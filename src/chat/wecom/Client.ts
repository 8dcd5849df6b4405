/** Sends messages of a WeCom application (developer.work.weixin.qq.com, 90236), and replies of a bot through the address of its callback. */
import { Clock, Effect, Redacted } from "effect"
import { ForgeError } from "../../forge/ForgeError.ts"
import { makeAccessToken } from "../AccessToken.ts"
import type { ChatClient } from "../ChatClient.ts"
import { cutBytes } from "../CutText.ts"
import { callPlatform } from "../PlatformCall.ts"
import { numberAt, textAt } from "../ReadJson.ts"

export interface WecomApp {
  readonly baseUrl: string
  readonly corpId: string
  readonly agentId: string
  readonly secret: Redacted.Redacted
}

const refreshBeforeMillis = 5 * 60 * 1000
/** Equal requests within this time are one message (`enable_duplicate_check`). */
const keySeconds = 1800
const appTextBytes = 2048
const botTextBytes = 4096

export const makeWecomAppClient = ({ agentId, baseUrl, corpId, secret }: WecomApp): ChatClient => {
  const secrets = [Redacted.value(secret)]
  const token = makeAccessToken(
    Effect.gen(function* () {
      const operation = "GET /cgi-bin/gettoken"
      const query = new URLSearchParams({ corpid: corpId, corpsecret: Redacted.value(secret) })
      const url = `${baseUrl}/cgi-bin/gettoken?${query}`
      const response = yield* callPlatform({ operation, method: "GET", url, writes: false, secrets })
      const received = textAt(response, ["access_token"], 4096)
      if (received === undefined)
        return yield* new ForgeError({
          reason: "invalid",
          operation,
          message: `${operation}: no token in the response`
        })
      return { token: Redacted.make(received), lifetimeMillis: (numberAt(response, "expires_in") ?? 7200) * 1000 }
    }),
    refreshBeforeMillis
  )
  const post = (path: string, body: object) =>
    token.use((received) =>
      callPlatform({
        operation: `POST ${path}`,
        method: "POST",
        url: `${baseUrl}${path}?access_token=${encodeURIComponent(received)}`,
        body,
        writes: true,
        secrets: [...secrets, received]
      })
    )
  return {
    markup: "wecom",
    keyMillis: keySeconds * 1000,
    send: Effect.fnUntraced(function* (to, message) {
      const response = yield* post("/cgi-bin/message/send", {
        touser: to.sender.id,
        msgtype: "markdown",
        agentid: /^\d+$/.test(agentId) ? Number(agentId) : agentId,
        markdown: { content: cutBytes(message.text, appTextBytes) },
        enable_duplicate_check: 1,
        duplicate_check_interval: keySeconds
      })
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
    isMention: () => Effect.succeed(false),
    check: token.use(() => Effect.void)
  }
}

/** `baseUrl`: that of the platform. The path of a reply comes from the callback, so that no other server gets the message. */
export const makeWecomBotClient = (baseUrl: string): ChatClient => ({
  markup: "wecom",
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
  isMention: () => Effect.succeed(true),
  check: Effect.void
})
