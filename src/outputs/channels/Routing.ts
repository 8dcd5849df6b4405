/**
 * Selects the channels of a change: by the first rule of outputs.routes that matches trigger and target kind, else by its
 * default. Without any routes, a change at a git host gets line comments and a summary through an implicit channel. Pure.
 */
import type { Channel as ChannelConfig, OutputsConfig } from "../../config/schema/Outputs.ts"
import type { Change } from "../../domain/Change.ts"
import { matchRoute } from "../../domain/MatchRoute.ts"
import type { ForgeKind, TriggerKind } from "../../domain/Kinds.ts"
import type { ChannelPlan } from "./Channel.ts"

export interface Routed {
  readonly channel: ChannelConfig
  readonly parts: ChannelPlan
}

/** The fields that rules match. */
type Routable = Pick<Change, "trigger" | "target">

const unconfigured = { templates: {}, marker_prefix: "[AICR]", assign_committer: true, owners_file: "OWNERS" } as const

/** The implicit channel of each host. */
const implicit: Readonly<Record<ForgeKind, ChannelConfig>> = {
  gitea: { ...unconfigured, name: "gitea_pr_review", kind: "gitea_pr_review" },
  forgejo: { ...unconfigured, name: "forgejo_pr_review", kind: "gitea_pr_review" },
  github: { ...unconfigured, name: "github_pr_review", kind: "github_pr_review" },
  gitlab: { ...unconfigured, name: "gitlab_mr_review", kind: "gitlab_mr_review" }
}

const isForge = (kind: TriggerKind): kind is ForgeKind => Object.hasOwn(implicit, kind)

/** Returns the channel of this name: configured, or the implicit one of the provider. */
export const channelNamed = (
  outputs: OutputsConfig,
  provider: TriggerKind,
  name: string
): ChannelConfig | undefined => {
  const configured = outputs.channels.find((channel) => channel.name === name)
  if (configured !== undefined || !isForge(provider)) return configured
  return implicit[provider].name === name ? implicit[provider] : undefined
}

/** Returns the first matching rule, else the default; undefined if there is neither. */
export const findRule = ({ rules, default: otherwise }: OutputsConfig["routes"], change: Routable) =>
  matchRoute(rules, change) ?? otherwise

/** Returns the channels in order: those with line comments as listed, then those with only the summary. */
export const route = (outputs: OutputsConfig, change: Routable & Pick<Change, "provider">): ReadonlyArray<Routed> => {
  const { routes } = outputs
  const rule = findRule(routes, change)
  if (rule === undefined) {
    // With rules and without a default, an unmatched change is not published.
    if (routes.rules.length > 0 || !isForge(change.provider)) return []
    const { name } = implicit[change.provider]
    const channel = channelNamed(outputs, change.provider, name) ?? implicit[change.provider]
    return [{ channel, parts: { lineComments: true, summary: true } }]
  }
  const lines = rule.line_comments ?? []
  const summaries = rule.summary ?? []
  return [...new Set([...lines, ...summaries])].flatMap((name) => {
    const channel = channelNamed(outputs, change.provider, name)
    if (channel === undefined) return []
    return [{ channel, parts: { lineComments: lines.includes(name), summary: summaries.includes(name) } }]
  })
}
