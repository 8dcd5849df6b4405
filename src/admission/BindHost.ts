/**
 * Selects the workspace and the git host's trigger for work without a webhook (manual and scheduled triggers). A workspace is bound to the
 * host's trigger as for webhooks, or to the requesting trigger; in the latter case the repository is on the only git host of the
 * configuration.
 */
import type { Snapshot, TriggerProfile, Workspace } from "../config/Snapshot.ts"
import type { IgnoreReason } from "../domain/Decision.ts"
import { isForgeKind } from "../domain/Kinds.ts"

interface HostBinding {
  readonly host: TriggerProfile
  readonly workspace: Workspace
  /** Match rule of the workspace that hit. */
  readonly rule: string | undefined
}

export interface Wanted {
  /** The requesting trigger. */
  readonly trigger: TriggerProfile
  readonly repo: string
  readonly branch: string | undefined
  /** Name of a git host's trigger, if the caller sent one. */
  readonly host?: string | undefined
  readonly workspace?: string | undefined
  /** Workspaces that the caller may use; undefined: all. */
  readonly scope?: ReadonlySet<string> | undefined
}

type HostSelection =
  | { readonly _tag: "Bound"; readonly binding: HostBinding }
  | {
      readonly _tag: "Unbound"
      readonly reason: IgnoreReason
      readonly workspace: Workspace | undefined
      /** Ids of the workspaces that bind the repository. */
      readonly candidates: ReadonlyArray<string>
    }

export const bindHost = (snapshot: Snapshot, wanted: Wanted): HostSelection => {
  const hosts = [...snapshot.triggers.values()].filter(
    ({ kind, name }) => isForgeKind(kind) && (wanted.host === undefined || wanted.host === name)
  )
  const bound = hosts.flatMap((host) => workspacesOf(snapshot, host, wanted).map((one) => ({ host, ...one })))
  const [onlyHost] = hosts.length === 1 ? hosts : []
  const requested =
    onlyHost === undefined
      ? []
      : workspacesOf(snapshot, wanted.trigger, wanted).map((one) => ({ host: onlyHost, ...one }))
  const bindings = bound.length > 0 ? bound : requested
  const enabled = bindings.filter(({ host, workspace }) => host.enabled && workspace.enabled)
  const [binding] = enabled
  if (binding !== undefined && enabled.length === 1) return { _tag: "Bound", binding }
  const candidate = bindings.length === 1 ? bindings[0] : undefined
  const unbound = (reason: IgnoreReason): HostSelection => ({
    _tag: "Unbound",
    reason,
    workspace: candidate?.workspace,
    candidates: [...new Set(bindings.map(({ workspace }) => workspace.id))]
  })
  if (enabled.length > 1) return unbound("ambiguous_route")
  if (bindings.length === 0) return unbound("repository_not_configured")
  return unbound(bindings.every(({ host }) => !host.enabled) ? "trigger_disabled" : "workspace_disabled")
}

const workspacesOf = (
  snapshot: Snapshot,
  { kind, name }: TriggerProfile,
  { branch, repo, scope, workspace }: Wanted
): ReadonlyArray<Pick<HostBinding, "rule" | "workspace">> => {
  const facts = {
    vcs: kind,
    repo_ref: repo,
    branch,
    ref: branch === undefined ? undefined : `refs/heads/${branch}`
  }
  return snapshot
    .route(name, facts)
    .filter(({ id }) => (scope === undefined || scope.has(id)) && (workspace === undefined || workspace === id))
    .map((one) => ({ workspace: one, rule: snapshot.matchedRule(one, name, facts) }))
}
