/** Reports where a review would be published, and by which rule, for `aicr route test`. Pure. */
import type { OutputsConfig } from "../../config/schema/Outputs.ts"
import type { TriggerProfile, Workspace } from "../../config/Snapshot.ts"
import type { Change } from "../../domain/Change.ts"
import type { TargetKind } from "../../domain/Kinds.ts"
import { noticeKinds, workspaceNoticeKinds } from "../../domain/Notice.ts"
import type { NoticeKind } from "../../domain/Notice.ts"
import { inEnglish } from "../../text/en.ts"
import { findHostMismatch } from "./ChannelHost.ts"
import { channelTable } from "./Channels.ts"
import { noticeChannels, noticeRoutes } from "../PlanNotices.ts"
import { findRule, route } from "./Routing.ts"

/** Describes a rule by its path in the configuration. */
const describeRule = ({ routes }: OutputsConfig, change: Change): string => {
  const rule = findRule(routes, change)
  if (rule !== undefined) {
    const index = routes.rules.findIndex((candidate) => candidate === rule)
    return index < 0 ? "outputs.routes.default" : `outputs.routes.rules[${index}]`
  }
  return routes.rules.length > 0 ? "no matching rule and no default" : "no routes: the implicit channel of the host"
}

// Only `serves` of a kind is used here; nothing is rendered, so the limit has no effect.
const kinds = new Map(Object.entries(channelTable(() => 0)))

const isOfWorkspace = (kind: NoticeKind): boolean => workspaceNoticeKinds.some((name) => name === kind)

/** Returns per kind of notices the routes that match it, by their path in the configuration, and the channels that receive it. */
const noticeReport = ({ outputs, snapshot }: Workspace) =>
  noticeKinds.map((kind) => {
    const applied = isOfWorkspace(kind) ? outputs : snapshot().document.outputs
    return {
      kind,
      routes: noticeRoutes(applied, kind).map((index) => `outputs.notifications.routes[${index}]`),
      channels: noticeChannels(applied, kind)
    }
  })

/**
 * Returns the output of the command: the deciding rule, the channels of notices, and per channel the published parts, or in `problem` the reason why there
 * are none.
 */
export const routeReport = (workspace: Workspace, trigger: TriggerProfile, kind: TargetKind) => {
  const numbered = kind === "pull_request" || kind === "issue"
  const change: Change = {
    provider: trigger.kind,
    trigger: trigger.name,
    workspace: workspace.id,
    repo: { fullName: "owner/name" },
    target: numbered ? { kind, number: 1 } : { kind, branch: "main" }
  }
  const channels = route(workspace.outputs, change).map(({ channel, parts }) => {
    const row = kinds.get(channel.kind)
    const other = findHostMismatch(channel, change, workspace.snapshot().triggers)
    const problem =
      row === undefined
        ? `kind ${channel.kind} is not available in this build`
        : other !== undefined
          ? inEnglish(other)
          : row.serves(change)
            ? undefined
            : `kind ${channel.kind} does not support ${kind} targets`
    return {
      name: channel.name,
      kind: channel.kind,
      line_comments: parts.lineComments,
      summary: parts.summary,
      problem
    }
  })
  return { rule: describeRule(workspace.outputs, change), channels, notices: noticeReport(workspace) }
}
