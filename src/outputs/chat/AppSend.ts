/** Sends a message to the recipients of its channel. Rows of a table: chat applications, e-mail, and the webhooks of HookSends.ts. */
import { createHash } from "node:crypto"
import { Duration, Effect } from "effect"
import type { ChatConnection } from "../../config/schema/Im.ts"
import { ChatApps, duplicateCheck, keySeconds, platformUrl } from "../../chat/ChatApps.ts"
import { findSlackMessage, openSlackConversation, postSlackMessage } from "../../chat/SlackMessages.ts"
import { countPersons, withinDailyPersons } from "../../chat/DailyPersons.ts"
import type { Reason } from "../../domain/Reason.ts"
import type { ForgeError } from "../../forge/ForgeError.ts"
import { platforms } from "./BotMessage.ts"
import { ChannelMissing } from "../channels/Channel.ts"
import type { ChatContext } from "../channels/Channel.ts"
import { pacedChat } from "./ChatPacing.ts"
import { emailSend } from "./EmailSend.ts"
import { hookSends } from "./HookSends.ts"
import type { HookName } from "./HookSends.ts"
import type { ChatOperation, MessageSend, MessageSender, ThreadedMessage } from "./MessageSend.ts"

type PlatformAppName = "feishu_app" | "wecom_app" | "slack_app"
export type AppName = PlatformAppName | HookName | "email"

/** Feishu: 5 messages a second to one recipient, over all bots. */
const feishuGap = Duration.seconds(1)
/** WeCom: messages of an application, 1000 an hour to one person; in a group chat of its own, 10,000 a day. It drops further ones silently. */
const wecomGaps = { recipients: Duration.millis(3600), appchat: Duration.millis(8640) } as const
/** Slack: a message a second to one conversation. */
const slackGap = Duration.seconds(1)
const hourMillis = 60 * 60 * 1000

const missing = ({ channel }: ChatContext, why: Reason) =>
  new ChannelMissing({ why: { _tag: "ChannelUnusable", channel: channel.name, why } })

/** Returns the connection that the channel names. */
const findConnection = Effect.fnUntraced(function* (context: ChatContext) {
  const { connection: id } = context.channel
  if (id === undefined) return undefined
  const { connections } = context.workspace.snapshot().document.im
  const connection = Object.hasOwn(connections, id) ? connections[id] : undefined
  if (connection === undefined || !connection.enabled)
    return yield* missing(context, { _tag: "ConnectionMissing", connection: id })
  return connection
})

const findSecret = Effect.fnUntraced(function* (
  context: ChatContext,
  connection: ChatConnection | undefined,
  name = "app_secret"
) {
  const secret = context.credential(connection ?? context.channel, name)
  return secret ?? (yield* missing(context, { _tag: "NoApplicationSecret" }))
})

const feishu = Effect.fnUntraced(function* (context: ChatContext) {
  const { app_id, base_url, receive_id: id = "", receive_id_type: type = "chat_id" } = context.channel
  const connection = yield* findConnection(context)
  const secret = yield* findSecret(context, connection)
  const appId = connection?.app_id ?? app_id ?? ""
  const baseUrl = platformUrl("feishu", connection === undefined ? base_url : connection.base_url)
  const api = (yield* ChatApps).feishu({ baseUrl, appId, secret })
  const path = "/open-apis/im/v1/messages"
  return {
    keyMillis: hourMillis,
    send: (operation, key) => {
      const { card, msg_type } = platforms.feishu_app.message({ ...operation, severity: operation.severity })
      const body = { receive_id: id, msg_type, content: JSON.stringify(card), uuid: key }
      const request = api.call("POST", `${path}?receive_id_type=${type}`, path, body)
      return Effect.asVoid(pacedChat(["feishu", baseUrl, id], feishuGap, `POST ${path}`, request))
    }
  } satisfies MessageSend
})

/** Reports recipients that do not get the message. If there is none that does, the platform refuses the request. */
const reportInvalid = (context: ChatContext, response: Readonly<Record<string, unknown>>) => {
  const invalid = ["invaliduser", "invalidparty", "invalidtag"].filter(
    (name) => typeof response[name] === "string" && response[name] !== ""
  )
  return invalid.length === 0
    ? Effect.void
    : Effect.logWarning("chat message not delivered to some recipients", {
        channel: context.channel.name,
        recipients: invalid.map((name) => `${name}: ${String(response[name]).slice(0, 200)}`)
      })
}

const wecom = Effect.fnUntraced(function* (context: ChatContext) {
  const { target } = context.channel
  const connection = yield* findConnection(context)
  if (connection === undefined || target === undefined) return yield* missing(context, { _tag: "NoConnectionOrTarget" })
  const { accounts, agent_id: agent = "", base_url, corp_id: corpId = "" } = connection
  const secret = yield* findSecret(context, connection)
  const baseUrl = platformUrl("wecom", base_url)
  const app = { baseUrl, corpId, agentId: String(agent), secret }
  const api = (yield* ChatApps).wecom(app)
  const isGroup = target.kind === "appchat"
  const path = isGroup ? "/cgi-bin/appchat/send" : "/cgi-bin/message/send"
  const list = (ids: ReadonlyArray<string> | undefined) => (ids ?? []).join("|")
  const recipients = isGroup
    ? { chatid: target.chat_id ?? "" }
    : { touser: list(target.users), toparty: list(target.parties), totag: list(target.tags) }
  const head = isGroup ? recipients : { ...recipients, agentid: Number(agent) }
  return {
    keyMillis: isGroup ? 0 : keySeconds * 1000,
    send: (operation, key) => {
      const message = platforms.wecom_app.message({ ...operation, severity: operation.severity })
      const body = { ...head, ...message, ...(isGroup ? {} : duplicateCheck(key)) }
      const recipient = ["wecom", baseUrl, corpId, JSON.stringify(recipients)]
      const paced = pacedChat(recipient, wecomGaps[target.kind], `POST ${path}`, api.post(path, body))
      const limited = isGroup
        ? paced
        : Effect.flatMap(countPersons({ platform: "wecom", ...app }, target, accounts), (persons) =>
            withinDailyPersons({ ...app, accounts }, persons, paced)
          )
      return Effect.flatMap(limited, (response) => reportInvalid(context, response))
    }
  } satisfies MessageSend
})

/** Uses a thread, or begins another one if people deleted its first message. */
const orFirst = <R>(
  thread: string | undefined,
  use: (thread: string | undefined) => Effect.Effect<string | undefined, ForgeError, R>
): Effect.Effect<ThreadedMessage, ForgeError, R> =>
  Effect.catch(
    Effect.map(use(thread), (id) => ({ id, thread })),
    (error) =>
      thread !== undefined && error.reason === "not_found"
        ? Effect.map(use(undefined), (id) => ({ id, thread: undefined }))
        : Effect.fail(error)
  )

const slack = Effect.fnUntraced(function* (context: ChatContext) {
  const { conversation } = context.channel
  const connection = yield* findConnection(context)
  if (connection === undefined || conversation === undefined)
    return yield* missing(context, { _tag: "NoConnectionOrTarget" })
  const token = yield* findSecret(context, connection, "bot_token")
  const baseUrl = platformUrl("slack", connection.base_url)
  const api = (yield* ChatApps).slack({ baseUrl, token })
  const opened = openSlackConversation(api, conversation)
  const post = (operation: ChatOperation, key: string, thread?: string) =>
    Effect.flatMap(opened, (channel) =>
      pacedChat(
        ["slack", baseUrl, conversation],
        slackGap,
        "POST chat.postMessage",
        postSlackMessage(
          api,
          { channel, thread },
          platforms.slack_app.message({ ...operation, severity: operation.severity }),
          key
        )
      )
    )
  return {
    keyMillis: 0,
    send: (operation, key) => Effect.asVoid(post(operation, key)),
    threads: {
      send: (operation, key, thread) => orFirst(thread, (one) => post(operation, key, one)),
      find: (key, thread, since) =>
        Effect.flatMap(opened, (channel) =>
          orFirst(thread, (one) => findSlackMessage(api, { channel, thread: one }, key, since))
        )
    }
  } satisfies MessageSend
})

export const appSends: Readonly<Record<AppName, MessageSender>> = {
  feishu_app: feishu,
  wecom_app: wecom,
  slack_app: slack,
  ...hookSends,
  email: emailSend
}

/** Returns the key of a message: an id of an operation has at most 50 characters, others are hashed. */
export const appKey = (operationId: string): string =>
  operationId.length <= 50 ? operationId : createHash("sha256").update(operationId).digest("hex").slice(0, 40)
