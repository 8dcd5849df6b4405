/**
 * Checks a connection for `aicr chat check`: its token, the permissions of its application, whether the platform can reach the callback of the
 * running service, and a test message. It opens no long connection, which would end that of the service.
 */
import { Clock, Effect } from "effect"
import type { Redacted } from "effect"
import type { Snapshot } from "../config/Snapshot.ts"
import type { ChatConnection } from "../config/schema/Im.ts"
import { publicUrl } from "../domain/RunLink.ts"
import type { ForgeError } from "../forge/ForgeError.ts"
import type { ChatSends } from "../store/ChatSends.ts"
import { ChatApps, platformUrl } from "./ChatApps.ts"
import { CheckFailed } from "./platform/CheckFailed.ts"
import { challengeFeishu, challengeWecom } from "./platform/Challenge.ts"
import { withinDailyPersons } from "./DailyPersons.ts"
import { discover } from "./feishu/Session.ts"
import { listAt, numberAt, textAt } from "./platform/ReadJson.ts"
import { isSlackPerson, openSlackConversation } from "./SlackMessages.ts"
import { neededSlackScopes } from "./slack/Scopes.ts"
import { receiveMode } from "./ReceiveMode.ts"

export interface ChatPoint {
  readonly point: "connection" | "token" | "permissions" | "receiving" | "message"
  /** `skipped`: it was not checked, for the reason in `detail`. */
  readonly state: "ok" | "failed" | "skipped"
  readonly detail: string
}

type Checked = Effect.Effect<string, ForgeError | CheckFailed>

interface Subject {
  readonly snapshot: Snapshot
  /** Name of the connection. */
  readonly id: string
  readonly connection: ChatConnection
  readonly secret: Redacted.Redacted
  /** Recipient of the test message. */
  readonly to: string | undefined
}

interface Row {
  readonly token: (subject: Subject) => Checked
  readonly permissions: ((subject: Subject) => Checked) | undefined
  readonly message:
    | ((subject: Subject, to: string) => Effect.Effect<string, ForgeError | CheckFailed, ChatSends>)
    | undefined
  readonly receiving: ((subject: Subject) => Checked) | undefined
}

const testText = "aicr: test message"

/** Permissions of a Feishu application: of each line one is needed. */
const scopes: ReadonlyArray<readonly [use: string, names: ReadonlyArray<string>]> = [
  ["sending", ["im:message:send_as_bot", "im:message"]],
  ["mentions in groups", ["im:message.group_at_msg:readonly", "im:message.group_at_msg"]],
  ["direct messages", ["im:message.p2p_msg:readonly", "im:message.p2p_msg"]]
]

const invalid = (message: string) => new CheckFailed({ message })

const feishuApp = ({ connection, secret }: Subject) => ({
  baseUrl: platformUrl("feishu", connection.base_url),
  appId: connection.app_id ?? "",
  secret
})
const feishuApi = (subject: Subject) => Effect.map(ChatApps, (apps) => apps.feishu(feishuApp(subject)))

const wecomApi = ({ connection, secret }: Subject) => {
  const app = {
    baseUrl: platformUrl("wecom", connection.base_url),
    corpId: connection.corp_id ?? "",
    agentId: String(connection.agent_id ?? ""),
    secret
  }
  return Effect.map(ChatApps, (apps) => ({ ...apps.wecom(app), app }))
}

const feishuScopes = Effect.fnUntraced(function* (subject: Subject) {
  const path = "/open-apis/application/v6/scopes"
  const response = yield* (yield* feishuApi(subject)).call("GET", path, path)
  const granted = new Set(
    listAt(response, "data", "scopes")
      .filter((scope) => numberAt(scope, "grant_status") === 1)
      .map((scope) => textAt(scope, ["scope_name"]))
  )
  const missing = scopes.filter(([, names]) => !names.some((name) => granted.has(name)))
  if (missing.length > 0)
    return yield* invalid(
      `missing: ${missing.map(([use, [name = ""]]) => `${name} (${use})`).join(", ")}; add them and release a version of the application`
    )
  return scopes.map(([, names]) => names.find((name) => granted.has(name))).join(", ")
})

const feishu: Row = {
  token: Effect.fnUntraced(function* (subject) {
    const path = "/open-apis/bot/v3/info"
    const response = yield* (yield* feishuApi(subject)).call("GET", path, path)
    const name = textAt(response, ["bot", "app_name"])
    if (textAt(response, ["bot", "open_id"]) === undefined)
      return yield* invalid("the application has no bot; add the ability and release a version")
    return name === undefined ? "the application has a bot" : `bot ${name}`
  }),
  permissions: feishuScopes,
  receiving: (subject) =>
    Effect.mapBoth(discover(feishuApp(subject)), {
      onFailure: ({ message }) => invalid(message),
      onSuccess: () => "the platform offers a long connection"
    }),
  message: Effect.fnUntraced(function* (subject, to) {
    const type = to.startsWith("ou_") ? "open_id" : "chat_id"
    const path = "/open-apis/im/v1/messages"
    const body = { receive_id: to, msg_type: "text", content: JSON.stringify({ text: testText }) }
    yield* (yield* feishuApi(subject)).call("POST", `${path}?receive_id_type=${type}`, path, body)
    return `sent to ${type} ${to}`
  })
}

const wecomApp: Row = {
  token: (subject) =>
    Effect.as(
      Effect.flatMap(wecomApi(subject), ({ check }) => check),
      "the platform accepts the secret"
    ),
  permissions: Effect.fnUntraced(function* ({ connection, ...subject }) {
    const path = "/cgi-bin/agent/get"
    const agentid = String(connection.agent_id ?? "")
    const response = yield* (yield* wecomApi({ connection, ...subject })).get(path, { agentid })
    if (numberAt(response, "close") === 1) return yield* invalid("the application is disabled")
    const people = listAt(response, "allow_userinfos", "user").length
    const parties = listAt(response, "allow_partys", "partyid").length
    const tags = listAt(response, "allow_tags", "tagid").length
    return people + parties + tags === 0
      ? yield* invalid("nothing is in the visible range of the application; add people, departments or tags")
      : `visible range: ${people} people, ${parties} departments, ${tags} tags`
  }),
  receiving: undefined,
  message: Effect.fnUntraced(function* ({ connection, ...subject }, to) {
    const body = { touser: to, msgtype: "text", agentid: Number(connection.agent_id), text: { content: testText } }
    const { app, post } = yield* wecomApi({ connection, ...subject })
    const send = post("/cgi-bin/message/send", body)
    const response = yield* withinDailyPersons({ ...app, accounts: connection.accounts }, 1, send)
    return textAt(response, ["invaliduser"], 4096) === undefined
      ? `sent to ${to}`
      : yield* invalid(`${to} is not in the visible range of the application`)
  })
}

const slackApi = ({ connection, secret }: Subject) =>
  Effect.map(ChatApps, (apps) => apps.slack({ baseUrl: platformUrl("slack", connection.base_url), token: secret }))

/** Compares the scopes of the token with those that the configuration needs. */
const slackScopes = Effect.fnUntraced(function* (subject: Subject) {
  const { id, snapshot, to } = subject
  const needed = neededSlackScopes(snapshot.document, id, to !== undefined && isSlackPerson(to))
  const granted = yield* (yield* slackApi(subject)).scopes
  if (granted === undefined) return yield* invalid("the platform did not name the scopes of the token")
  const missing = needed.filter(([scope]) => !granted.has(scope))
  if (missing.length > 0)
    return yield* invalid(
      `missing: ${missing.map(([scope, use]) => `${scope} (${use})`).join(", ")}; add them and install the app again`
    )
  return needed.map(([scope]) => scope).join(", ")
})

/** Checks the token of the bot; that of the app is for the long connection. */
const slackApp: Row = {
  token: Effect.fnUntraced(function* (subject) {
    const response = yield* (yield* slackApi(subject)).write("auth.test", {})
    return `bot ${textAt(response, ["user"]) ?? ""} of ${textAt(response, ["team"]) ?? "the workspace"}`
  }),
  permissions: slackScopes,
  receiving: undefined,
  message: Effect.fnUntraced(function* (subject, to) {
    const api = yield* slackApi(subject)
    yield* api.write("chat.postMessage", { channel: yield* openSlackConversation(api, to), text: testText })
    return `sent to ${to}`
  })
}

const rows: Readonly<Record<ChatConnection["kind"], Row | undefined>> = {
  feishu_app: feishu,
  wecom_app: wecomApp,
  slack_app: slackApp,
  // Everything of a bot needs its long connection, of which the service has the only one.
  wecom_aibot: undefined
}

const report = <R>(
  point: ChatPoint["point"],
  checked: Effect.Effect<string, ForgeError | CheckFailed, R>
): Effect.Effect<ChatPoint, never, R> =>
  Effect.match(checked, {
    onFailure: ({ message }): ChatPoint => ({ point, state: "failed", detail: message }),
    onSuccess: (detail): ChatPoint => ({ point, state: "ok", detail })
  })

const skipped = (point: ChatPoint["point"], detail: string): Effect.Effect<ChatPoint> =>
  Effect.succeed({ point, state: "skipped", detail })

/** Calls the address of the callback as the platform does when it verifies the address. */
const checkCallback = (
  { credential, document }: Snapshot,
  id: string,
  { aibot_id: _bot, callback = {}, corp_id: corp = "", kind }: ChatConnection
): Effect.Effect<ChatPoint> => {
  const url = publicUrl(document.server, `/callbacks/im/${id}`)
  if (url === undefined) return skipped("receiving", "server.base_url is not set, so that the address is unknown")
  const isFeishu = kind === "feishu_app"
  const token = credential(callback, isFeishu ? "verification_token" : "token")
  const key = credential(callback, isFeishu ? "encrypt_key" : "encoding_aes_key")
  if (token === undefined || key === undefined)
    return Effect.succeed({ point: "receiving", state: "failed", detail: "a credential of the callback is not set" })
  const verified = Effect.flatMap(Clock.currentTimeMillis, (now) =>
    isFeishu ? challengeFeishu(url, { token, key }) : challengeWecom(url, { token, key, receiver: corp, now })
  )
  return report("receiving", Effect.as(verified, `${url} responds to the platform's verification`))
}

const checkReceiving = (snapshot: Snapshot, id: string, subject: Subject, row: Row | undefined) => {
  const mode = receiveMode(subject.connection)
  if (mode === "callback") return checkCallback(snapshot, id, subject.connection)
  if (mode === "nothing") return skipped("receiving", "its callback is not enabled; it only sends")
  return row?.receiving === undefined
    ? skipped("receiving", "a check would end the long connection of the service; /readyz reports its state")
    : report("receiving", row.receiving(subject))
}

/** Returns the points of a connection, in order; after a failed token only that of receiving. */
export const checkChat = Effect.fnUntraced(function* (snapshot: Snapshot, id: string, to: string | undefined) {
  const { connections } = snapshot.document.im
  const connection = Object.hasOwn(connections, id) ? connections[id] : undefined
  const isBot = connection?.kind === "wecom_aibot"
  const secretName = isBot ? "secret" : connection?.kind === "slack_app" ? "bot_token" : "app_secret"
  const secret = connection === undefined ? undefined : snapshot.credential(connection, secretName)
  const failed = (detail: string): ReadonlyArray<ChatPoint> => [{ point: "connection", state: "failed", detail }]
  if (connection === undefined)
    return failed(`im.connections has no ${id}; it has ${Object.keys(connections).join(", ") || "none"}`)
  if (!connection.enabled) return failed("enabled is false")
  const mode = receiveMode(connection)
  const first: ChatPoint = { point: "connection", state: "ok", detail: `${connection.kind}, receives: ${mode}` }
  const row = rows[connection.kind]
  if (isBot && mode === "callback")
    return [first, yield* checkCallback(snapshot, id, connection)] satisfies ReadonlyArray<ChatPoint>
  if (secret === undefined) return failed(`${secretName}_env is not set`)
  const subject: Subject = { snapshot, id, connection, secret, to }
  const token = row === undefined ? undefined : yield* report("token", row.token(subject))
  const usable = row !== undefined && token?.state === "ok" ? row : undefined
  const more: ReadonlyArray<Effect.Effect<ChatPoint, never, ChatSends>> = [
    ...(usable?.permissions === undefined ? [] : [report("permissions", usable.permissions(subject))]),
    checkReceiving(snapshot, id, subject, row),
    ...(usable?.message === undefined
      ? []
      : [
          to === undefined
            ? skipped("message", "name a recipient with --to")
            : report("message", usable.message(subject, to))
        ])
  ]
  return [first, ...(token === undefined ? [] : [token]), ...(yield* Effect.all(more))]
})
