/** Lists what a trigger of a git host is about: owners, repositories, and branches whose pushes are reviewed. Pure. */
import { routeRepository } from "../../src/admission/Select.ts"
import type { Snapshot, TriggerProfile } from "../../src/config/Snapshot.ts"
import { foldRepo } from "../../src/domain/Change.ts"
import type { HostOwner } from "../../src/forge/Forge.ts"
import type { CatchUpMark } from "../../src/store/CatchUps.ts"
import type { DeliverySource } from "../../src/store/Receipts.ts"

export interface Sources {
  readonly owners: ReadonlyArray<HostOwner>
  /** Branches whose pushes are reviewed, by the full name of their repository. */
  readonly branches: ReadonlyMap<string, ReadonlySet<string>>
}

export const scopeOfOwner = (owner: string): string => `owner:${owner.toLowerCase()}`
export const scopeOfIssues = (owner: string): string => `issues:${owner.toLowerCase()}`
export const scopeOfDeliveries = "deliveries"
export const scopeOfBranches = (repo: string): string => `branches:${foldRepo(repo)}`

/** Returns the part of a name before its last slash; undefined if it has none. */
const namespaceOf = (name: string): string | undefined => {
  const slash = name.lastIndexOf("/")
  return slash <= 0 ? undefined : name.slice(0, slash)
}

/** Returns the namespace that all names of a glob have. */
const namespaceOfGlob = (glob: string): string | undefined => namespaceOf(glob.split(/[*?[{\\]/, 1)[0] ?? "")

const isRouted = (snapshot: Snapshot, trigger: TriggerProfile, repo: string): boolean =>
  routeRepository(snapshot, trigger, repo).length > 0

/** Returns the repositories and namespaces that the configuration names for a trigger. */
const configured = ({ workspaces }: Snapshot, { name }: TriggerProfile) => {
  const repositories: Array<string> = []
  const owners: Array<string> = []
  for (const { instance } of workspaces.values()) {
    if (instance.source_repo?.trigger === name) repositories.push(instance.source_repo.repo)
    for (const { source, triggers } of instance.match ?? []) {
      if (triggers !== undefined && !triggers.includes(name)) continue
      const { namespace, repo_ref } = source ?? {}
      if (repo_ref?.exact !== undefined) repositories.push(repo_ref.exact)
      const owner = namespace?.exact ?? (repo_ref?.glob === undefined ? undefined : namespaceOfGlob(repo_ref.glob))
      if (owner !== undefined) owners.push(owner)
    }
  }
  return { owners, repositories }
}

/** Branches that the workspaces of a repository list. */
const listedBranches = (snapshot: Snapshot, trigger: TriggerProfile, repo: string): ReadonlyArray<string> =>
  routeRepository(snapshot, trigger, repo).flatMap(({ review }) => review.auto_commit.include_branches ?? [])

export const listSources = (
  snapshot: Snapshot,
  trigger: TriggerProfile,
  recorded: ReadonlyArray<DeliverySource>,
  marks: ReadonlyMap<string, CatchUpMark>
): Sources => {
  const named = configured(snapshot, trigger)
  const repositories = new Map<string, string>()
  const names = [...named.repositories, ...recorded.map(({ repo }) => repo)]
  for (const name of names) if (isRouted(snapshot, trigger, name)) repositories.set(foldRepo(name), name)

  const owners = new Map<string, { readonly name: string; readonly repositories: Array<string> }>()
  const addOwner = (name: string) => {
    const key = scopeOfOwner(name)
    const owner = owners.get(key) ?? { name, repositories: [] }
    owners.set(key, owner)
    return owner
  }
  for (const name of named.owners) addOwner(name)
  for (const name of repositories.values()) {
    const owner = namespaceOf(name)
    if (owner !== undefined) addOwner(owner).repositories.push(name)
  }

  const pushed = Map.groupBy(recorded, ({ repo }) => foldRepo(repo))
  const branches = new Map<string, ReadonlySet<string>>()
  for (const [key, name] of repositories) {
    const delivered = (pushed.get(key) ?? []).flatMap(({ branch }) => branch ?? [])
    const seen = Object.keys(marks.get(scopeOfBranches(name))?.tips ?? {})
    const all = new Set([...delivered, ...seen, ...listedBranches(snapshot, trigger, name)])
    if (all.size > 0) branches.set(name, all)
  }
  return { owners: [...owners.values()], branches }
}
