/** People who write to the service through the callbacks of chat platforms. */
import { feishuMessagePayload, feishuPayload, sendFeishuEvent } from "../../demo/DemoChat.ts"
import type { Delivered, FeishuMessageOptions } from "../../demo/DemoChat.ts"
import { encryptWecom, wecomKey, wecomQuery } from "./ChatSigning.ts"

export const callbackSecrets = { token: "callback-t0ken", encryptKey: "callback-encrypt-key" } as const

const post = async (url: string, init: RequestInit): Promise<Delivered> => {
  const response = await fetch(url, { method: "POST", ...init })
  return { status: response.status, body: await response.text() }
}

const { encryptKey, token } = callbackSecrets

/** Returns the request of a message: `id` is that of the message, and each delivery is another event. */
export const feishuMessage = (id: string, text: string, options: FeishuMessageOptions = {}): string =>
  feishuMessagePayload(token, id, text, options)

export const feishuButton = (eventId: string, actionId: string, from = "ou_ada", chat = "oc_team"): string =>
  feishuPayload(token, eventId, "card.action.trigger", {
    operator: { open_id: from },
    context: { open_chat_id: chat, open_message_id: "om_card" },
    action: { tag: "button", value: { aicr: actionId } }
  })

/** Schedules by which the platforms deliver again what got no 200 in time, in milliseconds. */
export const redeliveries = {
  feishu: { timeout: 3000, delays: [15_000, 5 * 60_000, 60 * 60_000, 6 * 60 * 60_000] },
  wecom: { timeout: 5000, delays: [0, 0, 0] }
} as const

/**
 * Delivers as a platform does: again by its schedule, with times that are shorter by a factor, until a delivery is accepted. Returns the
 * statuses; 0 where there was no response in time.
 */
export const deliverBySchedule = async (
  platform: keyof typeof redeliveries,
  factor: number,
  deliver: () => Promise<Delivered>
): Promise<ReadonlyArray<number>> => {
  const { delays, timeout } = redeliveries[platform]
  const once = () =>
    Promise.race([
      deliver().then(
        ({ status }) => status,
        () => 0
      ),
      new Promise<number>((resolve) => setTimeout(resolve, timeout, 0).unref())
    ])
  const statuses = [await once()]
  for (const delay of delays) {
    if (statuses.at(-1) === 200) break
    await new Promise((resolve) => setTimeout(resolve, delay / factor))
    statuses.push(await once())
  }
  return statuses
}

/** Returns the event that members left or joined a chat. */
export const feishuDirectoryChange = (eventId: string, chat: string): string =>
  feishuPayload(token, eventId, "im.chat.member.user.deleted_v1", { chat_id: chat })

export const deliverFeishu = (url: string, payload: string): Promise<Delivered> =>
  sendFeishuEvent(url, encryptKey, payload)

const deliverWecom = (url: string, message: string, receiver: string, wrap: (text: string) => string) => {
  const encrypted = encryptWecom(wecomKey, message, receiver)
  const query = wecomQuery(callbackSecrets.token, encrypted, Math.floor(Date.now() / 1000))
  return post(`${url}?${query}`, { body: wrap(encrypted) })
}

export const deliverWecomApp = (url: string, id: string, text: string, from = "ada"): Promise<Delivered> =>
  deliverWecom(
    url,
    `<xml><ToUserName><![CDATA[corp]]></ToUserName><FromUserName><![CDATA[${from}]]></FromUserName><CreateTime>1</CreateTime><MsgType><![CDATA[text]]></MsgType><Content><![CDATA[${text}]]></Content><MsgId>${id}</MsgId><AgentID>5</AgentID></xml>`,
    "corp",
    (encrypted) => `<xml><ToUserName><![CDATA[corp]]></ToUserName><Encrypt><![CDATA[${encrypted}]]></Encrypt></xml>`
  )

/** Delivers the press of a button on a card of an application. */
export const pressWecomApp = (url: string, key: string, { from = "ada", at = 1 } = {}): Promise<Delivered> =>
  deliverWecom(
    url,
    `<xml><ToUserName><![CDATA[corp]]></ToUserName><FromUserName><![CDATA[${from}]]></FromUserName><CreateTime>${at}</CreateTime><MsgType><![CDATA[event]]></MsgType><Event><![CDATA[template_card_event]]></Event><EventKey><![CDATA[${key}]]></EventKey><TaskId><![CDATA[task]]></TaskId><CardType><![CDATA[button_interaction]]></CardType><ResponseCode><![CDATA[code]]></ResponseCode><AgentID>5</AgentID></xml>`,
    "corp",
    (encrypted) => `<xml><ToUserName><![CDATA[corp]]></ToUserName><Encrypt><![CDATA[${encrypted}]]></Encrypt></xml>`
  )

export const deliverWecomBot = (
  url: string,
  id: string,
  text: string,
  { chat = "g1", from = "ada", platform = "https://qyapi.weixin.qq.com" } = {}
): Promise<Delivered> =>
  deliverWecom(
    url,
    JSON.stringify({
      msgid: id,
      aibotid: "bot",
      chattype: "group",
      chatid: chat,
      from: { userid: from },
      response_url: `${platform}/response?code=${id}`,
      msgtype: "text",
      text: { content: `@aicr ${text}` }
    }),
    "",
    (encrypt) => JSON.stringify({ encrypt })
  )

/** Sends the challenge with which WeCom verifies an address. */
export const challengeWecom = async (url: string, text: string): Promise<Delivered> => {
  const encrypted = encryptWecom(wecomKey, text, "corp")
  const query = wecomQuery(callbackSecrets.token, encrypted, Math.floor(Date.now() / 1000))
  query.set("echostr", encrypted)
  const response = await fetch(`${url}?${query}`)
  return { status: response.status, body: await response.text() }
}

export const chatEnv = {
  CHAT_TOKEN: callbackSecrets.token,
  CHAT_ENCRYPT_KEY: callbackSecrets.encryptKey,
  CHAT_AES_KEY: wecomKey
} as const

/** The connections that have long connections, with the bindings of `chatDocument`. */
export const longDocument = (platformUrl: string, repositories: Readonly<Record<string, object>>) => {
  const { command_bindings, connections } = chatDocument(platformUrl, repositories)
  const { callback: _callback, ...lark } = connections.lark
  const bot = {
    kind: "wecom_aibot",
    corp_id: "corp",
    aibot_id: "bot",
    base_url: platformUrl,
    secret_env: "BOT_SECRET"
  }
  return {
    connections: { lark, bot },
    command_bindings: { lark: command_bindings.lark, bot: command_bindings.bot }
  }
}

/** Connections of each kind with callbacks, and a binding for `ada` on each. */
export const chatDocument = (
  platformUrl: string,
  repositories: Readonly<Record<string, object>>,
  binding: Readonly<Record<string, unknown>> = {}
) => {
  const commands = "help chat-id review status cancel projects reviews commits prs detail prdetail queue running".split(
    " "
  )
  const wecomCallback = { enabled: true, token_env: "CHAT_TOKEN", encoding_aes_key_env: "CHAT_AES_KEY" }
  const common = { enabled: true, repositories, commands, ...binding }
  const wecomAda = [{ type: "wecom_userid", id: "ada" }]
  return {
    connections: {
      lark: {
        kind: "feishu_app",
        app_id: "cli_a",
        app_secret_env: "FEISHU_SECRET",
        base_url: platformUrl,
        callback: { enabled: true, verification_token_env: "CHAT_TOKEN", encrypt_key_env: "CHAT_ENCRYPT_KEY" }
      },
      corp: {
        kind: "wecom_app",
        corp_id: "corp",
        agent_id: "5",
        app_secret_env: "WECOM_SECRET",
        base_url: platformUrl,
        callback: wecomCallback
      },
      bot: { kind: "wecom_aibot", corp_id: "corp", aibot_id: "bot", base_url: platformUrl, callback: wecomCallback },
      off: { kind: "wecom_aibot", corp_id: "corp", enabled: false, callback: wecomCallback }
    },
    command_bindings: {
      lark: {
        ...common,
        connection: "lark",
        actors: [{ type: "feishu_open_id", id: "ou_ada" }],
        conversations: [
          { kind: "group", id: "oc_team" },
          { kind: "app_direct", id: "cli_a" }
        ]
      },
      corp: { ...common, connection: "corp", actors: wecomAda, conversations: [{ kind: "app_direct", id: "5" }] },
      bot: { ...common, connection: "bot", actors: wecomAda, conversations: [{ kind: "group", id: "g1" }] }
    }
  }
}
