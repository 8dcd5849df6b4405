/** Lists settings of channels that their hosts do not support or that have no effect, for the start of the service and `aicr doctor`. Pure. */
import type { ConfigIssue } from "../../config/ConfigIssue.ts"
import type { Channel as ChannelConfig } from "../../config/schema/Outputs.ts"
import type { Snapshot } from "../../config/Snapshot.ts"
import { isForgeKind } from "../../domain/Kinds.ts"
import { findHostMismatch } from "./ChannelHost.ts"
import { channelTable } from "./Channels.ts"
import { route } from "./Routing.ts"
import { isPlatform } from "../chat/BotMessage.ts"
import { hasMembers } from "../chat/MemberMention.ts"
import type { Reason } from "../../domain/Reason.ts"

const kinds = channelTable(() => 0)

/** Groups of channel kinds. */
const isIssue = (kind: string): boolean => kind.endsWith("_problem_issue")

type Unused =
  | "ChangelistUserMentioned"
  | "IssuesAreAssigned"
  | "IssuesNeedProblems"
  | "IssuesWithoutMentions"
  | "IssuesWithoutSummary"
  | "MentionsNeedAuthor"
  | "SummaryRendersAll"

/** Reports fields that every channel may have but this kind ignores. */
const unusedFields = (channel: ChannelConfig, path: string): ReadonlyArray<ConfigIssue> => {
  const { kind } = channel
  const rows: ReadonlyArray<readonly [field: string, isSet: boolean, why: Unused]> = [
    ["mention_author", channel.mention_author !== undefined && isIssue(kind), "IssuesAreAssigned"],
    ["mention_fallback", channel.mention_fallback !== undefined && isIssue(kind), "IssuesWithoutMentions"],
    [
      "mention_fallback",
      channel.mention_fallback !== undefined &&
        !isIssue(kind) &&
        kind !== "p4_swarm" &&
        channel.mention_author !== true,
      "MentionsNeedAuthor"
    ],
    ["mention_fallback", channel.mention_fallback !== undefined && kind === "p4_swarm", "ChangelistUserMentioned"],
    ["no_problems", channel.no_problems !== undefined && isIssue(kind), "IssuesNeedProblems"],
    ["templates.summary", channel.templates.summary !== undefined && isIssue(kind), "IssuesWithoutSummary"],
    ["templates.problem", channel.templates.problem !== undefined && isPlatform(kind), "SummaryRendersAll"]
  ]
  return rows
    .filter(([, isSet]) => isSet)
    .map(([field, , why]) => ({
      severity: "warning",
      path: `${path}.${field}`,
      reason: { _tag: "ChannelFieldUnused", kind, why: { _tag: why } }
    }))
}

/** Feishu mentions its own ids only, which accounts of a host are not. */
const mentionsNobody = (channel: ChannelConfig, path: string): ReadonlyArray<ConfigIssue> => {
  const isFeishu = channel.kind === "feishu_bot" || channel.kind === "feishu_app"
  if (!isFeishu || channel.mention_author !== true || hasMembers(channel)) return []
  const reason: Reason = { _tag: "MentionNeedsMembers", kind: channel.kind }
  return [{ severity: "warning", path: `${path}.mention_author`, reason }]
}

/** Reports channels that a workspace's route names but that never receive its changes, because their hosts differ. */
const otherHosts = (snapshot: Snapshot): ReadonlyArray<ConfigIssue> => {
  const found = [...snapshot.workspaces.values()].flatMap((workspace) =>
    [...snapshot.triggers.values()]
      .filter(({ name, kind }) => isForgeKind(kind) && (workspace.instance.source_repo?.trigger ?? name) === name)
      .flatMap(({ name: trigger, kind: provider }) => {
        const change = { trigger, provider, target: { kind: "pull_request" as const, number: 1 } }
        return route(workspace.outputs, change).flatMap(({ channel }): ReadonlyArray<readonly [string, Reason]> => {
          const why = findHostMismatch(channel, change, snapshot.triggers)
          return why === undefined ? [] : [[channel.name, { _tag: "ReceivesNoChanges", trigger, why }]]
        })
      })
  )
  const unique = new Map(found.map((pair) => [JSON.stringify(pair), pair]))
  return [...unique.values()].map(([channel, reason]) => ({
    severity: "warning",
    path: `outputs.channels.${channel}`,
    reason
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
      const reason: Reason = { _tag: "ChannelKindMissing", kind: channel.kind }
      return [{ severity: "warning", path: `${path}.kind`, reason }]
    }
    const unused = [...unusedFields(channel, path), ...mentionsNobody(channel, path)]
    if (channel.kind !== "gitlab_mr_review" || channel.review_event !== "REQUEST_CHANGES") return unused
    const reason: Reason = { _tag: "GitlabRequestsNothing" }
    return [...unused, { severity: "warning", path: `${path}.review_event`, reason }]
  })
}
