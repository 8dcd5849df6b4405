/** Clients of the configured connections, over the shared APIs of their applications. */
import { Context, Effect, Layer } from "effect"
import type { Redacted } from "effect"
import type { Snapshot } from "../config/Snapshot.ts"
import type { ChatConnection } from "../config/schema/Im.ts"
import { ChatSends } from "../store/ChatSends.ts"
import { ChatApps, identityKey, findPlatform, platformUrl, shared } from "./ChatApps.ts"
import type { ChatClient } from "./ChatClient.ts"
import { makeFeishuClient } from "./feishu/Client.ts"
import type { ChatConnectionKind } from "./ReadConnection.ts"
import { makeSlackClient } from "./slack/Client.ts"
import { makeWecomAppClient, makeWecomBotClient } from "./wecom/Client.ts"

type Settings = ChatConnection & { readonly secret: Redacted.Redacted | undefined; readonly baseUrl: string }

interface Parts {
  readonly apps: typeof ChatApps.Service
  readonly sends: ChatSends["Service"]
}

/** Undefined if a credential is missing. */
const rows: Readonly<Record<ChatConnectionKind, (parts: Parts, settings: Settings) => ChatClient | undefined>> = {
  feishu_app: ({ apps }, { app_id: appId = "", baseUrl, secret }) =>
    secret === undefined ? undefined : makeFeishuClient(apps.feishu({ baseUrl, appId, secret })),
  wecom_app: ({ apps, sends }, { accounts, agent_id: agent = "", baseUrl, corp_id: corpId = "", secret }) => {
    if (secret === undefined) return undefined
    const app = { baseUrl, corpId, agentId: String(agent) }
    return makeWecomAppClient(apps.wecom({ ...app, secret }), { ...app, accounts }, sends)
  },
  wecom_aibot: (_parts, { baseUrl }) => makeWecomBotClient(baseUrl),
  slack_app: ({ apps }, { baseUrl, secret }) =>
    secret === undefined ? undefined : makeSlackClient(apps.slack({ baseUrl, token: secret }))
}

export class ChatClients extends Context.Service<
  ChatClients,
  {
    /** Undefined if the connection is not configured, is disabled, or has no credential. */
    readonly of: (snapshot: Pick<Snapshot, "document" | "credential">, connection: string) => ChatClient | undefined
  }
>()("aicr/chat/ChatClients") {
  static readonly layer: Layer.Layer<ChatClients, never, ChatSends> = Layer.effect(
    ChatClients,
    Effect.gen(function* () {
      const parts = { apps: yield* ChatApps, sends: yield* ChatSends }
      const clients = new Map<string, ChatClient | undefined>()
      return ChatClients.of({
        of: ({ credential, document }, id) => {
          const connection = Object.hasOwn(document.im.connections, id) ? document.im.connections[id] : undefined
          if (connection?.enabled !== true) return undefined
          const { accounts, agent_id, app_id, base_url, corp_id, kind } = connection
          const secret = credential(connection, kind === "slack_app" ? "bot_token" : "app_secret")
          const baseUrl = platformUrl(findPlatform(kind), base_url)
          return shared(clients, identityKey([kind, baseUrl, corp_id, agent_id, app_id, accounts], secret), () =>
            rows[kind](parts, { ...connection, secret, baseUrl })
          )
        }
      })
    })
  )
}
