/** Names the part of the configuration by which a repository has, or has not, a workspace. For the record of a delivery. Pure. */
import type { TriggerProfile, Workspace } from "../config/Snapshot.ts"
import type { IgnoreReason } from "../domain/Decision.ts"

export interface RouteFacts {
  readonly repo: string
  readonly branch: string | undefined
  readonly trigger: TriggerProfile | undefined
  readonly workspace: Workspace | undefined
  /** Ids of the workspaces that bind the repository. */
  readonly candidates: ReadonlyArray<string>
}

/** Maximum number of workspaces in a text. */
const maxNames = 10

const listNames = (names: ReadonlyArray<string>): string =>
  names.length > maxNames
    ? `${names.slice(0, maxNames).join(", ")} and ${names.length - maxNames} more`
    : names.join(", ")

/** Names the workspace that reviews a repository, and its match rule that hit. */
export const describeBinding = (
  { rule, workspace }: { readonly workspace: Workspace; readonly rule: string | undefined },
  repo: string
): string => `workspace ${workspace.id} binds ${repo}${rule === undefined ? "" : ` by match rule ${rule}`}`

export const describeRoute = (
  reason: IgnoreReason,
  { branch, candidates, repo, trigger, workspace }: RouteFacts
): string | undefined => {
  const of = trigger === undefined ? "" : ` of trigger ${trigger.name}`
  switch (reason) {
    case "repository_not_configured":
      return `no workspace${of} binds ${repo}${branch === undefined ? "" : ` with branch ${branch}`} (source_repo or match of workspaces.instances)`
    case "ambiguous_route":
      return `the enabled workspaces ${listNames(candidates)} all bind ${repo}`
    case "workspace_disabled":
      return workspace === undefined
        ? `the workspaces ${listNames(candidates)} are disabled`
        : `workspaces.instances.${workspace.id}.enabled is false`
    case "trigger_disabled":
      return trigger === undefined
        ? "every trigger of this delivery is disabled"
        : `trigger ${trigger.name} has enabled: false`
    default:
      return undefined
  }
}
