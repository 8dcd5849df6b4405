/** Clients of the configured connections. Those with the same identity and secret share one token, across configurations. */
import { createHash } from "node:crypto"
import { Context, Layer, Redacted } from "effect"
import type { Snapshot } from "../config/Snapshot.ts"
import type { ChatConnection } from "../config/schema/Im.ts"
import type { ChatClient } from "./ChatClient.ts"
import { makeFeishuClient } from "./feishu/Client.ts"
import type { ChatConnectionKind } from "./ReadConnection.ts"
import { makeWecomAppClient, makeWecomBotClient } from "./wecom/Client.ts"

const feishuUrl = "https://open.feishu.cn"
const wecomUrl = "https://qyapi.weixin.qq.com"

type Settings = ChatConnection & { readonly secret: Redacted.Redacted | undefined; readonly baseUrl: string }

/** Undefined if a credential is missing. */
const rows: Readonly<Record<ChatConnectionKind, (settings: Settings) => ChatClient | undefined>> = {
  feishu_app: ({ app_id: appId = "", baseUrl, secret }) =>
    secret === undefined ? undefined : makeFeishuClient({ baseUrl, appId, secret }),
  wecom_app: ({ agent_id: agent = "", baseUrl, corp_id: corpId = "", secret }) =>
    secret === undefined ? undefined : makeWecomAppClient({ baseUrl, corpId, agentId: String(agent), secret }),
  wecom_aibot: ({ baseUrl }) => makeWecomBotClient(baseUrl)
}

const defaultUrl = (kind: ChatConnectionKind): string => (kind === "feishu_app" ? feishuUrl : wecomUrl)

const maxClients = 1000

export class ChatClients extends Context.Service<
  ChatClients,
  {
    /** Undefined if the connection is not configured, is disabled, or has no credential. */
    readonly of: (snapshot: Pick<Snapshot, "document" | "credential">, connection: string) => ChatClient | undefined
  }
>()("aicr/chat/ChatClients") {
  static readonly layer: Layer.Layer<ChatClients> = Layer.sync(ChatClients, () => {
    const clients = new Map<string, ChatClient>()
    return ChatClients.of({
      of: ({ credential, document }, id) => {
        const connection = Object.hasOwn(document.im.connections, id) ? document.im.connections[id] : undefined
        if (connection?.enabled !== true) return undefined
        const { agent_id, app_id, base_url, corp_id, kind } = connection
        const secret = credential(connection, "app_secret")
        const baseUrl = (base_url ?? defaultUrl(kind)).replace(/(?<!\/)\/+$/, "")
        const parts = [kind, baseUrl, corp_id, agent_id, app_id, secret === undefined ? "" : Redacted.value(secret)]
        const key = createHash("sha256").update(JSON.stringify(parts)).digest("base64")
        const known = clients.get(key)
        if (known !== undefined) return known
        const made = rows[kind]({ ...connection, secret, baseUrl })
        if (clients.size >= maxClients) clients.clear()
        if (made !== undefined) clients.set(key, made)
        return made
      }
    })
  })
}
