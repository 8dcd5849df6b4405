/**
 * Determines whether a channel writes to the host of a change. A channel bound to a trigger of another host would comment on an
 * unrelated pull request with the same repository name and number, so it receives no changes of this host unless it names its own
 * repository. Pure.
 */
import type { Channel as ChannelConfig } from "../../config/schema/Outputs.ts"
import type { TriggerProfile } from "../../config/Snapshot.ts"
import { hostTrigger } from "../../domain/Change.ts"
import type { Change } from "../../domain/Change.ts"
import type { Reason } from "../../domain/Reason.ts"
import type { TriggerKind } from "../../domain/Kinds.ts"

type Profile = Pick<TriggerProfile, "name" | "kind" | "apiUrl"> & Partial<Pick<TriggerProfile, "settings">>
type Triggers = ReadonlyMap<string, Profile>

const families: ReadonlyArray<readonly [prefix: string, kinds: ReadonlyArray<TriggerKind>]> = [
  ["gitea_", ["gitea", "forgejo"]],
  ["github_", ["github"]],
  ["gitlab_", ["gitlab"]],
  ["p4_", ["perforce"]]
]

/** Returns the kinds of hosts to which a kind of channel writes; undefined if it writes to none. */
const listHosts = (channelKind: string): ReadonlyArray<TriggerKind> | undefined =>
  families.find(([prefix]) => channelKind.startsWith(prefix))?.[1]

const namesTarget = ({ owner, repo, project_id: project }: ChannelConfig): boolean =>
  owner !== undefined || repo !== undefined || project !== undefined

/** The same number is another changelist on another server. */
const findServerMismatch = (bound: Profile, own: Profile): Reason | undefined =>
  bound.settings?.port === own.settings?.port ? undefined : { _tag: "OtherServer", trigger: bound.name, own: own.name }

/** Returns why the channel does not receive the change; undefined if it does. */
export const findHostMismatch = (
  channel: ChannelConfig,
  change: Pick<Change, "trigger" | "host">,
  triggers: Triggers
): Reason | undefined => {
  const hosts = listHosts(channel.kind)
  const own = triggers.get(hostTrigger(change))
  const bound = channel.trigger === undefined ? own : triggers.get(channel.trigger)
  if (hosts === undefined || own === undefined || bound === undefined) return undefined
  if (!hosts.includes(bound.kind))
    return { _tag: "OtherHostKind", kind: channel.kind, host: bound.kind, trigger: bound.name }
  if (bound.name === own.name || namesTarget(channel)) return undefined
  if (bound.kind === "perforce") return findServerMismatch(bound, own)
  if (bound.kind === own.kind && bound.apiUrl === own.apiUrl) return undefined
  return { _tag: "OtherHost", trigger: bound.name, own: own.name }
}
