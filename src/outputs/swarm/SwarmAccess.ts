/** Checks whether Swarm accepts the credentials of the channels that write to it, by reading only; used by `aicr doctor`. */
import { Effect } from "effect"
import type { Snapshot } from "../../config/Snapshot.ts"
import type { AccessReport } from "../../forge/Access.ts"
import { openSwarm } from "./OpenSwarm.ts"

/** Returns one result per channel. */
export const reportSwarm = (snapshot: Snapshot): Effect.Effect<ReadonlyArray<AccessReport>> => {
  const channels = new Map(
    [...snapshot.workspaces.values()]
      .filter(({ enabled }) => enabled)
      .flatMap(({ outputs }) => outputs.channels)
      .filter(({ kind }) => kind === "p4_swarm")
      .map((channel) => [JSON.stringify([channel.name, channel.base_url, channel.user]), channel])
  )
  return Effect.forEach(
    [...channels.values()],
    Effect.fnUntraced(function* (channel): Effect.fn.Return<AccessReport> {
      const client = openSwarm(channel, snapshot)
      if ("_tag" in client) return { level: "error", reason: client }
      const checked = yield* Effect.result(client.check)
      return checked._tag === "Success"
        ? {
            level: "ok",
            reason: { _tag: "SwarmAccepts", channel: channel.name, version: checked.success, user: client.user }
          }
        : { level: "error", reason: { _tag: "ChannelUnusable", channel: channel.name, why: checked.failure.why } }
    }),
    { concurrency: 4 }
  )
}
