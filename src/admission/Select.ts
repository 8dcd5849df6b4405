/**
 * Selects the trigger profile and workspace of a verified delivery: among the profiles whose credential verified, the one that binds the
 * repository. Enabled bindings take precedence over disabled ones, so that a disabled duplicate does not make a route ambiguous.
 */
import type { Snapshot, SourceFacts, TriggerProfile, Workspace } from "../config/Snapshot.ts"
import type { Repo } from "../domain/Change.ts"
import type { HostEvent } from "../domain/HostEvent.ts"

export interface Binding {
  readonly trigger: TriggerProfile
  readonly workspace: Workspace
  /** Match rule of the workspace that hit. */
  readonly rule: string | undefined
}

export type Selection =
  | { readonly _tag: "Bound"; readonly binding: Binding }
  | {
      readonly _tag: "Unbound"
      readonly reason: "repository_not_configured" | "ambiguous_route" | "trigger_disabled" | "workspace_disabled"
      /** The only candidate, if there is one; reported with the refusal. */
      readonly trigger: TriggerProfile | undefined
      readonly workspace: Workspace | undefined
      /** Ids of the workspaces that bind the repository. */
      readonly candidates: ReadonlyArray<string>
    }

interface PullOfEvent {
  readonly repo: Repo
  readonly number: number
  readonly baseRef: string | undefined
}

/** Returns the pull request of an event. */
export const readPull = (event: HostEvent): PullOfEvent | undefined => {
  switch (event._tag) {
    case "PullRequestUpdated":
      return { repo: event.repo, number: event.pull.number, baseRef: event.pull.baseRef }
    case "PullRequestClosed":
    case "Commanded":
      return event
    case "Discussed":
      return event.comment.on === "pull_request" && event.number !== undefined
        ? { repo: event.repo, number: event.number, baseRef: event.baseRef }
        : undefined
    default:
      return undefined
  }
}

/** Returns the workspaces that a repository is routed to, on any of its branches. */
export const routeRepository = (
  snapshot: Snapshot,
  { kind, name }: Pick<TriggerProfile, "kind" | "name">,
  fullName: string
): ReadonlyArray<Workspace> =>
  snapshot.route(name, { ...toSourceFacts(kind, { fullName }, undefined), any_branch: true })

const branchOf = (event: HostEvent): string | undefined => {
  switch (event._tag) {
    case "Pushed":
      return event.branch
    case "MergeGroupQueued":
    case "MergeGroupEnded":
      return event.group.baseRef
    case "Ignored":
      return event.subject.branch
    default:
      return readPull(event)?.baseRef
  }
}

/** Returns the input of match rules. The branch of a pull request is its target branch. */
export const sourceFacts = (
  event: HostEvent,
  repo: { readonly fullName: string; readonly hostId?: number | undefined }
): SourceFacts => toSourceFacts(event.provider, repo, branchOf(event))

export const toSourceFacts = (
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
    ...branchFacts(branch)
  }
}

const branchFacts = (branch: string | undefined) => ({
  branch,
  ref: branch === undefined ? undefined : `refs/heads/${branch}`
})

const onBranch = (source: SourceFacts, branch: string | undefined): SourceFacts => ({
  ...source,
  ...branchFacts(branch)
})

export const onlyOne = <A>(values: ReadonlyArray<A>): A | undefined => (values.length === 1 ? values[0] : undefined)

/** Returns the profiles whose match rules depend on the branch of this source. */
export const profilesByBranch = (
  snapshot: Snapshot,
  verified: ReadonlyArray<TriggerProfile>,
  source: SourceFacts
): ReadonlyArray<TriggerProfile> =>
  verified.filter(({ name }) => {
    const withoutBranch = { ...source, branch: undefined, ref: undefined }
    const bound = snapshot.route(name, withoutBranch)
    return snapshot.route(name, { ...withoutBranch, any_branch: true }).some((workspace) => !bound.includes(workspace))
  })

/**
 * Selects a workspace for a delivery about a pull request whose payload does not name its base: the workspace of the base that earlier
 * deliveries named (`bases`, by trigger). If none named it: a workspace that binds the repository without a branch rule, or the first one
 * whose rules may match; the review reads the base from the host and moves to the workspace of that branch.
 */
export const selectByPull = (
  snapshot: Snapshot,
  verified: ReadonlyArray<TriggerProfile>,
  source: SourceFacts,
  bases: ReadonlyMap<string, string>
): Selection => {
  if (source.branch !== undefined) return select(snapshot, verified, () => source)
  const selection = select(snapshot, verified, ({ name }) => onBranch(source, bases.get(name)))
  if (selection._tag === "Bound" || selection.reason !== "repository_not_configured" || bases.size > 0) return selection
  for (const trigger of verified) {
    const facts = { ...source, any_branch: true }
    const [workspace] = snapshot.route(trigger.name, facts)
    if (workspace?.enabled === true && trigger.enabled)
      return {
        _tag: "Bound",
        binding: { trigger, workspace, rule: snapshot.matchedRule(workspace, trigger.name, facts) }
      }
  }
  return selection
}

/** Selects the workspace of a delivery; the facts of its source may depend on the trigger. */
export const select = (
  snapshot: Snapshot,
  verified: ReadonlyArray<TriggerProfile>,
  sourceOf: (trigger: TriggerProfile) => SourceFacts
): Selection => {
  const bindings: Array<Pick<Binding, "trigger" | "workspace">> = []
  for (const trigger of verified) {
    for (const workspace of snapshot.route(trigger.name, sourceOf(trigger))) bindings.push({ trigger, workspace })
  }
  const enabled = bindings.filter(({ trigger, workspace }) => trigger.enabled && workspace.enabled)
  const [binding] = enabled
  if (binding !== undefined && enabled.length === 1) {
    const { trigger, workspace } = binding
    const rule = snapshot.matchedRule(workspace, trigger.name, sourceOf(trigger))
    return { _tag: "Bound", binding: { trigger, workspace, rule } }
  }
  const candidate = onlyOne(bindings)
  const unbound = (reason: Extract<Selection, { readonly _tag: "Unbound" }>["reason"]): Selection => ({
    _tag: "Unbound",
    reason,
    trigger: candidate?.trigger ?? onlyOne(verified),
    workspace: candidate?.workspace,
    candidates: [...new Set(bindings.map(({ workspace }) => workspace.id))]
  })
  if (enabled.length > 1) return unbound("ambiguous_route")
  const triggers = bindings.length === 0 ? verified : bindings.map(({ trigger }) => trigger)
  if (triggers.length > 0 && triggers.every((trigger) => !trigger.enabled)) return unbound("trigger_disabled")
  return unbound(bindings.length === 0 ? "repository_not_configured" : "workspace_disabled")
}
