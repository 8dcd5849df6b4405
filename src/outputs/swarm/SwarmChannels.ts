/** Channels that write to Swarm servers, each once, with the workspaces that have it. */
import type { Channel as ChannelConfig } from "../../config/schema/Outputs.ts"
import type { Snapshot, Workspace } from "../../config/Snapshot.ts"

export interface SwarmServerChannel {
  readonly channel: ChannelConfig
  /** There is at least one. */
  readonly workspaces: ReadonlyArray<Workspace>
}

export const listSwarmChannels = (snapshot: Pick<Snapshot, "workspaces">): ReadonlyArray<SwarmServerChannel> => {
  const pairs = [...snapshot.workspaces.values()]
    .filter(({ enabled }) => enabled)
    .flatMap((workspace) => workspace.outputs.channels.map((channel) => ({ channel, workspace })))
    .filter(({ channel }) => channel.kind === "p4_swarm")
  return [
    ...Map.groupBy(pairs, ({ channel: { base_url, name, user } }) => JSON.stringify([name, base_url, user])).values()
  ].flatMap((group) =>
    group.slice(0, 1).map(({ channel }) => ({ channel, workspaces: group.map(({ workspace }) => workspace) }))
  )
}
