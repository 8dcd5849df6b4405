/**
 * Selects the trigger profile and workspace of a verified delivery: among the profiles whose credential verified, the one that binds the
 * repository. Enabled bindings take precedence over disabled ones, so that a disabled duplicate does not make a route ambiguous.
 */
import type { Snapshot, SourceFacts, TriggerProfile, Workspace } from "../config/Snapshot.ts"
import type { HostEvent } from "../domain/HostEvent.ts"

export interface Binding {
  readonly trigger: TriggerProfile
  readonly workspace: Workspace
}

export type Selection =
  | { readonly _tag: "Bound"; readonly binding: Binding }
  | {
      readonly _tag: "Unbound"
      readonly reason: "repository_not_configured" | "ambiguous_route" | "trigger_disabled" | "workspace_disabled"
      /** The only candidate, if there is one; reported with the refusal. */
      readonly trigger: TriggerProfile | undefined
      readonly workspace: Workspace | undefined
    }

const branchOf = (event: HostEvent): string | undefined => {
  switch (event._tag) {
    case "Pushed":
      return event.branch
    case "PullRequestUpdated":
      return event.pull.baseRef
    case "PullRequestClosed":
    case "Commanded":
      return event.baseRef
    default:
      return undefined
  }
}

/** Returns the input of match rules. The branch of a pull request is its target branch. */
export const sourceFacts = (
  event: HostEvent,
  repo: { readonly fullName: string; readonly hostId?: number | undefined }
): SourceFacts => factsOf(event.provider, repo, branchOf(event))

export const factsOf = (
  vcs: SourceFacts["vcs"],
  repo: { readonly fullName: string; readonly hostId?: number | undefined },
  branch: string | undefined
): SourceFacts => {
  const slash = repo.fullName.lastIndexOf("/")
  return {
    vcs,
    repo_ref: repo.fullName,
    repository: repo.fullName.slice(slash + 1),
    namespace: repo.fullName.slice(0, slash),
    project_key: repo.hostId === undefined ? undefined : String(repo.hostId),
    branch,
    ref: branch === undefined ? undefined : `refs/heads/${branch}`
  }
}

const onlyOne = <A>(values: ReadonlyArray<A>): A | undefined => (values.length === 1 ? values[0] : undefined)

/**
 * Selects a workspace for a delivery about a pull request whose payload does not name its base: a workspace that binds the repository
 * without a branch rule, or the first one whose rules may match. The review reads the base from the host and moves to the workspace of that
 * branch.
 */
export const selectByPull = (
  snapshot: Snapshot,
  verified: ReadonlyArray<TriggerProfile>,
  source: SourceFacts
): Selection => {
  const selection = select(snapshot, verified, source)
  if (selection._tag === "Bound" || selection.reason !== "repository_not_configured" || source.branch !== undefined) {
    return selection
  }
  for (const trigger of verified) {
    const [workspace] = snapshot.route(trigger.name, { ...source, any_branch: true })
    if (workspace?.enabled === true && trigger.enabled) return { _tag: "Bound", binding: { trigger, workspace } }
  }
  return selection
}

export const select = (snapshot: Snapshot, verified: ReadonlyArray<TriggerProfile>, source: SourceFacts): Selection => {
  const bindings: Array<Binding> = []
  for (const trigger of verified) {
    for (const workspace of snapshot.route(trigger.name, source)) bindings.push({ trigger, workspace })
  }
  const enabled = bindings.filter(({ trigger, workspace }) => trigger.enabled && workspace.enabled)
  const [binding] = enabled
  if (binding !== undefined && enabled.length === 1) return { _tag: "Bound", binding }
  const candidate = onlyOne(bindings)
  const unbound = (reason: Extract<Selection, { readonly _tag: "Unbound" }>["reason"]): Selection => ({
    _tag: "Unbound",
    reason,
    trigger: candidate?.trigger ?? onlyOne(verified),
    workspace: candidate?.workspace
  })
  if (enabled.length > 1) return unbound("ambiguous_route")
  const triggers = bindings.length === 0 ? verified : bindings.map(({ trigger }) => trigger)
  if (triggers.length > 0 && triggers.every((trigger) => !trigger.enabled)) return unbound("trigger_disabled")
  return unbound(bindings.length === 0 ? "repository_not_configured" : "workspace_disabled")
}
