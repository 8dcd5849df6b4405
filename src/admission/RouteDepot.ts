/**
 * Routes a VCS hook event of Perforce or Subversion to its trigger and workspace. A hook script only reports its depot, so the paths
 * decide: those that the trigger watches, then those of the workspace's bindings. Pure.
 */
import type { Snapshot, TriggerProfile, Workspace } from "../config/Snapshot.ts"
import type { DepotChange } from "../domain/DepotChange.ts"

export interface DepotBinding {
  readonly trigger: TriggerProfile
  readonly workspace: Workspace
}

/** `//depot/main/...` covers everything below `//depot/main`. */
const prefixOf = (path: string): string => path.replace(/\/?\.\.\.$/, "").replace(/(?<!\/)\/+$/, "")

const covers = (path: string, inner: string): boolean => {
  const prefix = prefixOf(path).toLowerCase()
  const wanted = prefixOf(inner).toLowerCase()
  return wanted === prefix || wanted.startsWith(`${prefix}/`)
}

const touches = (path: string, change: DepotChange): boolean => {
  const paths = [...change.files, ...(change.path === undefined ? [] : [change.path])]
  return paths.length === 0 || paths.some((one) => covers(path, one))
}

/** Returns the enabled workspaces of enabled triggers. Several are ambiguous, none is no match. */
export const routeDepot = (snapshot: Snapshot, change: DepotChange): ReadonlyArray<DepotBinding> => {
  const triggers = snapshot
    .triggersOfKind(change.vcs)
    .filter(
      ({ enabled, settings: { depot_path } }) => enabled && (depot_path === undefined || touches(depot_path, change))
    )
  return triggers.flatMap((trigger) =>
    workspacesOf(snapshot, trigger, change)
      .filter(({ enabled, id }) => enabled && (change.workspaces === undefined || change.workspaces.includes(id)))
      .map((workspace) => ({ trigger, workspace }))
  )
}

const workspacesOf = (
  snapshot: Snapshot,
  { name, settings, kind }: TriggerProfile,
  change: DepotChange
): ReadonlyArray<Workspace> => {
  const bound = [...snapshot.workspaces.values()].filter(({ instance: { source_repo } }) => {
    if (source_repo?.trigger !== name) return false
    // A name that is not a depot path does not restrict paths: only the trigger decides.
    return !source_repo.repo.startsWith("//") || touches(source_repo.repo, change)
  })
  const repo = settings.repository_url ?? change.path ?? settings.depot_path
  const matched = repo === undefined ? [] : snapshot.route(name, { vcs: kind, repo_ref: prefixOf(repo) })
  return [...new Set([...bound, ...matched])]
}
