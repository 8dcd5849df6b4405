/** Repositories that a person may name: aliases of bindings and, where a binding allows all, workspace ids and full names. Pure. */
import type { Snapshot, Workspace } from "../config/Snapshot.ts"
import { foldRepo } from "../domain/Change.ts"
import type { ChatPermission } from "./Authorise.ts"

export interface ChatRepository {
  readonly alias: string
  readonly workspace: Workspace
  readonly trigger: string
  /** Full name at the host. */
  readonly repo: string
}

/** A repository that ran reviews. */
interface ObservedProject {
  readonly workspace: string
  readonly trigger: string
  readonly repository: string
}

type ResolvedRepository =
  | { readonly _tag: "Found"; readonly repository: ChatRepository }
  | { readonly _tag: "Unknown" }
  | { readonly _tag: "Ambiguous" }

type Target = NonNullable<ChatPermission["settings"]["repositories"]>[string]

const toRepository = (
  snapshot: Pick<Snapshot, "workspaces">,
  alias: string,
  { repo_ref, source_trigger, workspace: id }: Target
): ReadonlyArray<ChatRepository> => {
  const workspace = id === undefined ? undefined : snapshot.workspaces.get(id)
  const trigger = source_trigger ?? workspace?.instance.source_repo?.trigger
  const repo = repo_ref ?? workspace?.instance.source_repo?.repo
  return workspace === undefined || trigger === undefined || repo === undefined
    ? []
    : [{ alias, workspace, trigger, repo }]
}

const ownAliases = (snapshot: Pick<Snapshot, "workspaces">, permissions: ReadonlyArray<ChatPermission>) =>
  permissions.flatMap(({ settings }) =>
    Object.entries(settings.repositories ?? {}).flatMap(([alias, target]) => toRepository(snapshot, alias, target))
  )

const everyRepository = (
  snapshot: Pick<Snapshot, "workspaces">,
  permissions: ReadonlyArray<ChatPermission>,
  projects: ReadonlyArray<ObservedProject>
): ReadonlyArray<ChatRepository> => {
  if (!permissions.some(({ settings }) => settings.allow_all_repositories === true)) return []
  const configured = [...snapshot.workspaces.keys()].flatMap((id) => toRepository(snapshot, id, { workspace: id }))
  const observed = projects.flatMap(({ repository, trigger, workspace }) =>
    toRepository(snapshot, repository, { workspace, source_trigger: trigger, repo_ref: repository })
  )
  return [...configured, ...observed]
}

const keyOf = ({ repo, trigger, workspace }: ChatRepository): string =>
  JSON.stringify([workspace.id, trigger, foldRepo(repo)])

const unique = (repositories: ReadonlyArray<ChatRepository>): ReadonlyArray<ChatRepository> =>
  [...new Map(repositories.toReversed().map((one) => [keyOf(one), one])).values()].toReversed()

/** Lists each repository once, aliases of bindings first. */
export const listRepositories = (
  snapshot: Pick<Snapshot, "workspaces">,
  permissions: ReadonlyArray<ChatPermission>,
  projects: ReadonlyArray<ObservedProject>
): ReadonlyArray<ChatRepository> =>
  unique([...ownAliases(snapshot, permissions), ...everyRepository(snapshot, permissions, projects)])

/** An alias wins over a workspace id, and that over the full name of a repository. */
export const resolveRepository = (
  snapshot: Pick<Snapshot, "workspaces">,
  permissions: ReadonlyArray<ChatPermission>,
  projects: ReadonlyArray<ObservedProject>,
  name: string
): ResolvedRepository => {
  const all = everyRepository(snapshot, permissions, projects)
  const choices = [
    ownAliases(snapshot, permissions).filter(({ alias }) => alias === name),
    all.filter(({ workspace }) => workspace.id === name),
    all.filter(({ repo }) => foldRepo(repo) === foldRepo(name))
  ].map(unique)
  const [first, ...others] = choices.find((choice) => choice.length > 0) ?? []
  if (first === undefined) return { _tag: "Unknown" }
  return others.length > 0 ? { _tag: "Ambiguous" } : { _tag: "Found", repository: first }
}
