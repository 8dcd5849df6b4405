/** Checks whether Swarm accepts the credentials of the channels that write to it, by reading only; used by `aicr doctor`. */
import { Effect } from "effect"
import type { Snapshot } from "../../config/Snapshot.ts"
import type { AccessReport } from "../../forge/Access.ts"
import { HostTraffic } from "../../forge/HostTraffic.ts"
import { openSwarm } from "./OpenSwarm.ts"
import { listSwarmChannels } from "./SwarmChannels.ts"

/** Returns one result per channel. */
export const reportSwarm = (snapshot: Snapshot): Effect.Effect<ReadonlyArray<AccessReport>, never, HostTraffic> =>
  Effect.forEach(
    listSwarmChannels(snapshot),
    Effect.fnUntraced(function* ({ channel }): Effect.fn.Return<AccessReport, never, HostTraffic> {
      const client = openSwarm(channel, snapshot, yield* HostTraffic)
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
