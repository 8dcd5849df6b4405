/** Names the part of the configuration by which a repository has, or has not, a workspace. For the record of a delivery. Pure. */
import type { TriggerProfile, Workspace } from "../config/Snapshot.ts"
import type { IgnoreReason } from "../domain/Decision.ts"
import type { Reason, ReasonWith } from "../domain/Reason.ts"

interface RouteFacts {
  readonly repo: string
  readonly branch: string | undefined
  readonly trigger: TriggerProfile | undefined
  readonly workspace: Workspace | undefined
  /** Ids of the workspaces that bind the repository. */
  readonly candidates: ReadonlyArray<string>
}

/** Maximum number of workspaces in a reason. */
const maxNames = 10

const listNames = (names: ReadonlyArray<string>) => ({
  names: names.slice(0, maxNames),
  ...(names.length > maxNames ? { more: names.length - maxNames } : {})
})

/** Names the workspace that reviews a repository, and its match rule that hit. */
export const describeBinding = (
  { rule, workspace }: { readonly workspace: Workspace; readonly rule: string | undefined },
  repo: string
): ReasonWith<"BoundBy"> => ({
  _tag: "BoundBy",
  workspace: workspace.id,
  repository: repo,
  ...(rule === undefined ? {} : { rule })
})

export const describeRoute = (
  reason: IgnoreReason,
  { branch, candidates, repo, trigger, workspace }: RouteFacts
): Reason | undefined => {
  switch (reason) {
    case "repository_not_configured":
      return {
        _tag: "NoWorkspaceBinds",
        repository: repo,
        ...(trigger === undefined ? {} : { trigger: trigger.name }),
        ...(branch === undefined ? {} : { branch })
      }
    case "ambiguous_route":
      return { _tag: "SeveralWorkspacesBind", ...listNames(candidates), repository: repo }
    case "workspace_disabled":
      return workspace === undefined
        ? { _tag: "WorkspacesDisabled", ...listNames(candidates) }
        : { _tag: "WorkspaceDisabled", workspace: workspace.id }
    case "trigger_disabled":
      return trigger === undefined ? { _tag: "TriggersDisabled" } : { _tag: "TriggerOff", trigger: trigger.name }
    default:
      return undefined
  }
}
