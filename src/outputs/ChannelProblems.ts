/** What channels of a configuration ask for and no host or build can do, for the start of the service and doctor. Pure. */
import type { ConfigIssue } from "../config/ConfigIssue.ts"
import type { Channel as ChannelConfig } from "../config/schema/Outputs.ts"
import type { Snapshot } from "../config/Snapshot.ts"
import { isForgeKind } from "../domain/Kinds.ts"
import { otherHost } from "./ChannelHost.ts"
import { channelTable } from "./Channels.ts"
import { route } from "./Routing.ts"

const kinds = channelTable(() => 0)

/** Kinds of channels by what they write. */
const isIssue = (kind: string): boolean => kind.endsWith("_problem_issue")

/** Fields that every channel may have and that this kind does nothing with. */
const unusedFields = (channel: ChannelConfig, path: string): ReadonlyArray<ConfigIssue> => {
  const { kind } = channel
  const rows: ReadonlyArray<readonly [field: string, isSet: boolean, why: string]> = [
    [
      "mention_author",
      channel.mention_author !== undefined && isIssue(kind),
      "managed issues are assigned (assign_committer)"
    ],
    ["mention_fallback", channel.mention_fallback !== undefined && isIssue(kind), "managed issues mention nobody"],
    [
      "mention_fallback",
      channel.mention_fallback !== undefined && !isIssue(kind) && channel.mention_author !== true,
      "nobody is mentioned without mention_author"
    ],
    ["no_problems", channel.no_problems !== undefined && isIssue(kind), "a review without problems makes no issue"],
    ["templates.summary", channel.templates.summary !== undefined && isIssue(kind), "managed issues have no summary"],
    [
      "templates.problem",
      channel.templates.problem !== undefined && kind.endsWith("_bot"),
      "a chat message is one text, made by templates.summary"
    ]
  ]
  return rows
    .filter(([, isSet]) => isSet)
    .map(([field, , why]) => ({
      severity: "warning",
      path: `${path}.${field}`,
      message: `without effect on kind ${kind}: ${why}; remove it`
    }))
}

/** Channels that a workspace's route names and that get nothing of its changes, by the hosts of both. */
const otherHosts = (snapshot: Snapshot): ReadonlyArray<ConfigIssue> => {
  const messages = [...snapshot.workspaces.values()].flatMap((workspace) =>
    [...snapshot.triggers.values()]
      .filter(({ name, kind }) => isForgeKind(kind) && (workspace.instance.source_repo?.trigger ?? name) === name)
      .flatMap(({ name: trigger, kind: provider }) => {
        const change = { trigger, provider, target: { kind: "pull_request" as const, number: 1 } }
        return route(workspace.outputs, change).flatMap(({ channel }): ReadonlyArray<readonly [string, string]> => {
          const other = otherHost(channel, change, snapshot.triggers)
          return other === undefined ? [] : [[channel.name, `gets nothing of trigger ${trigger}: ${other}`]]
        })
      })
  )
  const unique = new Map(messages.map((pair) => [pair.join(), pair]))
  return [...unique.values()].map(([channel, message]) => ({
    severity: "warning",
    path: `outputs.channels.${channel}`,
    message
  }))
}

export const channelProblems = (snapshot: Snapshot): ReadonlyArray<ConfigIssue> => [
  ...otherHosts(snapshot),
  ...kindProblems(snapshot)
]

const kindProblems = (snapshot: Snapshot): ReadonlyArray<ConfigIssue> => {
  const channels = new Map(
    [...snapshot.workspaces.values()]
      .flatMap(({ outputs }) => outputs.channels)
      .map((channel) => [channel.name, channel])
  )
  return [...channels.values()].flatMap((channel): ReadonlyArray<ConfigIssue> => {
    const path = `outputs.channels.${channel.name}`
    if (!Object.hasOwn(kinds, channel.kind)) {
      const message = `kind ${channel.kind} is not available in this build; nothing is sent to the channel`
      return [{ severity: "warning", path: `${path}.kind`, message }]
    }
    const unused = unusedFields(channel, path)
    if (channel.kind !== "gitlab_mr_review" || channel.review_event !== "REQUEST_CHANGES") return unused
    const message = "GitLab's API has no request for changes; its reviews are remarks. Leave review_event out"
    return [...unused, { severity: "warning", path: `${path}.review_event`, message }]
  })
}
