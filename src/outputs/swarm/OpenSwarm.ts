/** Opens the Swarm server of a channel. */
import { resolve } from "node:path"
import { Effect, Redacted } from "effect"
import type { Channel as ChannelConfig } from "../../config/schema/Outputs.ts"
import type { Snapshot, Workspace } from "../../config/Snapshot.ts"
import type { Reason } from "../../domain/Reason.ts"
import { HostTraffic } from "../../forge/HostTraffic.ts"
import { makeSwarm } from "../../forge/swarm/Client.ts"
import type { SwarmClient } from "../../forge/swarm/Client.ts"
import { ChannelMissing } from "../channels/Channel.ts"
import type { ChannelContext } from "../channels/Channel.ts"

type Source = Pick<Snapshot, "baseDir" | "credential">

/** Returns the client of a channel, or what its configuration lacks. */
export const openSwarm = (
  channel: ChannelConfig,
  { baseDir, credential }: Source,
  traffic: HostTraffic["Service"]
): SwarmClient | Reason => {
  const { base_url, http_proxy, name, tls_ca_path } = channel
  const user = credential(channel, "user")
  const secret = credential(channel, "ticket") ?? credential(channel, "password")
  if (base_url === undefined) return { _tag: "SwarmWithoutAddress", channel: name }
  if (user === undefined) return { _tag: "SwarmWithoutUser", channel: name }
  if (secret === undefined) return { _tag: "SwarmWithoutCredential", channel: name }
  return makeSwarm({
    traffic,
    channel: name,
    url: base_url.replace(/(?<!\/)\/+$/, ""),
    user: String(Redacted.value(user)),
    secret,
    tlsCaPath: tls_ca_path === undefined ? undefined : resolve(baseDir, tls_ca_path),
    proxy: http_proxy
  })
}

/** Clients by channel, of each configuration. */
export class SwarmClients {
  readonly #clients = new WeakMap<Workspace, Map<string, SwarmClient>>()

  open({
    channel,
    workspace
  }: Pick<ChannelContext, "channel" | "workspace">): Effect.Effect<SwarmClient, ChannelMissing, HostTraffic> {
    const own = this.#clients.get(workspace) ?? new Map<string, SwarmClient>()
    this.#clients.set(workspace, own)
    const existing = own.get(channel.name)
    if (existing !== undefined) return Effect.succeed(existing)
    return Effect.flatMap(HostTraffic, (traffic) => {
      const client = openSwarm(channel, workspace.snapshot(), traffic)
      if ("_tag" in client) return Effect.fail(new ChannelMissing({ why: client }))
      own.set(channel.name, client)
      return Effect.succeed(client)
    })
  }
}
