/** Selects the application through which the directory of a connection or of a channel is read. */
import type { Snapshot } from "../../config/Snapshot.ts"
import type { ChatConnection } from "../../config/schema/Im.ts"
import type { Channel } from "../../config/schema/Outputs.ts"
import { platformUrl } from "../ChatApps.ts"
import type { DirectoryApp } from "./Directories.ts"

type Configured = Pick<Snapshot, "credential" | "document">

const connectionNamed = ({ document }: Configured, id: string): ChatConnection | undefined => {
  const connection = Object.hasOwn(document.im.connections, id) ? document.im.connections[id] : undefined
  return connection?.enabled === true ? connection : undefined
}

const toApp = (snapshot: Configured, connection: ChatConnection): DirectoryApp | undefined => {
  const secret = snapshot.credential(connection, "app_secret")
  const { agent_id: agent, app_id: appId, base_url: url, corp_id: corpId, kind } = connection
  const token = snapshot.credential(connection, "bot_token")
  if (kind === "slack_app" && token !== undefined)
    return { platform: "slack", baseUrl: platformUrl("slack", url), token }
  if (secret === undefined) return undefined
  if (kind === "feishu_app" && appId !== undefined)
    return { platform: "feishu", baseUrl: platformUrl("feishu", url), appId, secret }
  if (kind === "wecom_app" && corpId !== undefined)
    return { platform: "wecom", baseUrl: platformUrl("wecom", url), corpId, agentId: String(agent ?? ""), secret }
  return undefined
}

/** A bot of WeCom has no directory of its own: an application of the same corporation reads it. */
export const appOfConnection = (snapshot: Configured, id: string): DirectoryApp | undefined => {
  const connection = connectionNamed(snapshot, id)
  if (connection === undefined) return undefined
  if (connection.kind !== "wecom_aibot") return toApp(snapshot, connection)
  const { connections } = snapshot.document.im
  const app = Object.values(connections).find(
    ({ corp_id: corp, enabled, kind }) => enabled && kind === "wecom_app" && corp === connection.corp_id
  )
  return app === undefined ? undefined : toApp(snapshot, app)
}

/** The application of a channel of kind feishu_app: that of its connection, or its own. */
export const appOfChannel = (snapshot: Configured, channel: Channel): DirectoryApp | undefined => {
  if (channel.kind !== "feishu_app") return undefined
  if (channel.connection !== undefined) return appOfConnection(snapshot, channel.connection)
  const secret = snapshot.credential(channel, "app_secret")
  return channel.app_id === undefined || secret === undefined
    ? undefined
    : { platform: "feishu", baseUrl: platformUrl("feishu", channel.base_url), appId: channel.app_id, secret }
}
