/**
 * Which channels a change goes to: the first rule of outputs.routes that matches by trigger and target kind, else its default.
 * Without any routes, a git host gets line comments and summary on the change itself, through a channel that needs no configuration. Pure.
 */
import type { Channel as ChannelConfig, OutputsConfig } from "../config/schema/Outputs.ts"
import type { Change } from "../domain/Change.ts"
import type { ForgeKind, TriggerKind } from "../domain/Kinds.ts"
import type { ChannelPlan } from "./Channel.ts"

export interface Routed {
  readonly channel: ChannelConfig
  readonly parts: ChannelPlan
}

/** What rules look at. */
type Routable = Pick<Change, "trigger" | "target">

const unconfigured = { templates: {}, marker_prefix: "[AICR]", assign_committer: true, owners_file: "OWNERS" } as const

/** The channel that a host has without being configured. */
const implicit: Readonly<Record<ForgeKind, ChannelConfig>> = {
  gitea: { ...unconfigured, name: "gitea_pr_review", kind: "gitea_pr_review" },
  forgejo: { ...unconfigured, name: "forgejo_pr_review", kind: "gitea_pr_review" },
  github: { ...unconfigured, name: "github_pr_review", kind: "github_pr_review" },
  gitlab: { ...unconfigured, name: "gitlab_mr_review", kind: "gitlab_mr_review" }
}

const isForge = (kind: TriggerKind): kind is ForgeKind => Object.hasOwn(implicit, kind)

/** A channel of this name: configured, or the one that the provider has without configuration. */
export const channelNamed = (
  outputs: OutputsConfig,
  provider: TriggerKind,
  name: string
): ChannelConfig | undefined => {
  const configured = outputs.channels.find((channel) => channel.name === name)
  if (configured !== undefined || !isForge(provider)) return configured
  return implicit[provider].name === name ? implicit[provider] : undefined
}

/** What decides for a change: the first rule that matches, else the default; undefined where there is neither. */
export const decisive = ({ rules, default: otherwise }: OutputsConfig["routes"], change: Routable) =>
  rules.find(
    ({ match }) =>
      (match.trigger === undefined || match.trigger === change.trigger) &&
      (match.target_kind === undefined || match.target_kind === change.target.kind)
  ) ?? otherwise

/** In order: channels of line comments as listed, then those that get only the summary. */
export const route = (outputs: OutputsConfig, change: Routable & Pick<Change, "provider">): ReadonlyArray<Routed> => {
  const { routes } = outputs
  const chosen = decisive(routes, change)
  if (chosen === undefined) {
    // Rules without a default mean: nothing else is published.
    if (routes.rules.length > 0 || !isForge(change.provider)) return []
    const { name } = implicit[change.provider]
    const channel = channelNamed(outputs, change.provider, name) ?? implicit[change.provider]
    return [{ channel, parts: { lineComments: true, summary: true } }]
  }
  const lines = chosen.line_comments ?? []
  const summaries = chosen.summary ?? []
  return [...new Set([...lines, ...summaries])].flatMap((name) => {
    const channel = channelNamed(outputs, change.provider, name)
    if (channel === undefined) return []
    return [{ channel, parts: { lineComments: lines.includes(name), summary: summaries.includes(name) } }]
  })
}
