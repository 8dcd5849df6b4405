/** Where a review would be published, and by which rule: for `aicr route test`. Pure. */
import type { OutputsConfig } from "../config/schema/Outputs.ts"
import type { TriggerProfile, Workspace } from "../config/Snapshot.ts"
import type { Change } from "../domain/Change.ts"
import type { TargetKind } from "../domain/Kinds.ts"
import { channelTable } from "./Channels.ts"
import { route } from "./Routing.ts"

export interface RouteReport {
  /** `outputs.routes.rules[2]`, `outputs.routes.default`, or what holds without either. */
  readonly rule: string
  readonly channels: ReadonlyArray<{
    readonly name: string
    readonly kind: string
    readonly line_comments: boolean
    readonly summary: boolean
    /** Undefined when it publishes; else why nothing goes there. */
    readonly problem: string | undefined
  }>
}

const ruleOf = ({ routes }: OutputsConfig, change: Pick<Change, "trigger" | "target">): string => {
  const index = routes.rules.findIndex(
    ({ match }) =>
      (match.trigger === undefined || match.trigger === change.trigger) &&
      (match.target_kind === undefined || match.target_kind === change.target.kind)
  )
  if (index >= 0) return `outputs.routes.rules[${index}]`
  if (routes.default !== undefined) return "outputs.routes.default"
  return routes.rules.length > 0 ? "no rule matches and there is no default" : "no routes: the host's own channel"
}

// Only what a kind serves is asked here; texts are not made.
const kinds = new Map(Object.entries(channelTable(() => 0)))

export const routeReport = (workspace: Workspace, trigger: TriggerProfile, kind: TargetKind): RouteReport => {
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
          ? undefined
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
