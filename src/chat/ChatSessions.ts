/** Selects the long connection of a configured connection. Rows of a table, one per kind. */
import type { Redacted } from "effect"
import type { Snapshot } from "../config/Snapshot.ts"
import type { ChatConnection } from "../config/schema/Im.ts"
import { identityKey, platformUrl } from "./ChatApps.ts"
import type { ChatSession } from "./ChatSession.ts"
import { makeFeishuSession } from "./feishu/Session.ts"
import type { ChatConnectionKind } from "./ReadConnection.ts"
import { receiveMode } from "./ReceiveMode.ts"
import { makeSlackSession } from "./slack/Session.ts"
import { makeWecomSession } from "./wecom/Session.ts"

const wecomSocketUrl = "wss://openws.work.weixin.qq.com"

interface Row {
  readonly secret: "app_secret" | "app_token" | "secret"
  readonly open: (connection: ChatConnection, secret: Redacted.Redacted, key: string) => ChatSession
}

const rows: Readonly<Record<ChatConnectionKind, Row | undefined>> = {
  feishu_app: {
    secret: "app_secret",
    open: ({ app_id: appId = "", base_url: url, tenant_key: tenant }, secret, key) =>
      makeFeishuSession({ baseUrl: platformUrl("feishu", url), appId, secret, tenant }, key)
  },
  wecom_app: undefined,
  wecom_aibot: {
    secret: "secret",
    // The address of a private deployment is configured as a web address.
    open: ({ aibot_id: botId = "", base_url: url, bot_name: botName }, secret, key) =>
      makeWecomSession(
        { url: url === undefined ? wecomSocketUrl : url.replace(/^http/, "ws"), botId, botName, secret },
        key
      )
  },
  slack_app: {
    secret: "app_token",
    open: ({ app_id: appId, base_url: url }, token, key) =>
      makeSlackSession({ baseUrl: platformUrl("slack", url), appId, token }, key)
  }
}

/** Undefined if the connection is disabled, receives otherwise, or has no credential. A session with the key of `known` is that one. */
export const findSession = (
  { credential, document }: Pick<Snapshot, "document" | "credential">,
  id: string,
  known: ChatSession | undefined
): ChatSession | undefined => {
  const connection = Object.hasOwn(document.im.connections, id) ? document.im.connections[id] : undefined
  if (connection?.enabled !== true || receiveMode(connection) !== "long_connection") return undefined
  const row = rows[connection.kind]
  const secret = row === undefined ? undefined : credential(connection, row.secret)
  if (row === undefined || secret === undefined) return undefined
  const { aibot_id, app_id, base_url, bot_name, kind, tenant_key } = connection
  const key = identityKey([kind, base_url, app_id, aibot_id, tenant_key, bot_name], secret)
  return known?.key === key ? known : row.open(connection, secret, key)
}
