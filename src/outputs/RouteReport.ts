/** Where a review would be published, and by which rule: for `aicr route test`. Pure. */
import type { OutputsConfig } from "../config/schema/Outputs.ts"
import type { TriggerProfile, Workspace } from "../config/Snapshot.ts"
import type { Change } from "../domain/Change.ts"
import type { TargetKind } from "../domain/Kinds.ts"
import { otherHost } from "./ChannelHost.ts"
import { channelTable } from "./Channels.ts"
import { decisive, route } from "./Routing.ts"

/** In words of the configuration. */
const ruleOf = ({ routes }: OutputsConfig, change: Change): string => {
  const rule = decisive(routes, change)
  if (rule !== undefined) {
    const index = routes.rules.findIndex((one) => one === rule)
    return index < 0 ? "outputs.routes.default" : `outputs.routes.rules[${index}]`
  }
  return routes.rules.length > 0 ? "no rule matches and no default is set" : "no routes: the host's own channel"
}

// Only what a kind serves is asked here; texts are not made.
const kinds = new Map(Object.entries(channelTable(() => 0)))

/** What the command prints: the rule that decides, and per channel what goes there, or in `problem` why nothing does. */
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
    const problem =
      row === undefined
        ? `kind ${channel.kind} is not available in this build`
        : row.serves(change)
          ? otherHost(channel, change, workspace.snapshot().triggers)
          : `kind ${channel.kind} publishes no ${kind}`
    return {
      name: channel.name,
      kind: channel.kind,
      line_comments: parts.lineComments,
      summary: parts.summary,
      problem
    }
  })
  return { rule: ruleOf(workspace.outputs, change), channels }
}
