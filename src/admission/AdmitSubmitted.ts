/**
 * Decides about a submitted change whose metadata its server has returned: which workspace reviews which of its branches, from when. Pure.
 */
import type { Snapshot, TriggerProfile, Workspace } from "../config/Snapshot.ts"
import { listBranchNames, listStreamNames } from "../domain/BranchNames.ts"
import { toRepositoryName, toShelfName } from "../domain/Change.ts"
import type { Change } from "../domain/Change.ts"
import type { ChangedStream } from "../domain/ChangedStream.ts"
import { anyGlob, underAny } from "../domain/Globs.ts"
import { commandDue, pullRequestDue, pushDue } from "./Windows.ts"
import { isExcludedChange } from "./Exclude.ts"
import { pathsInBranch } from "./PathsInBranch.ts"
import { verbatimReason } from "../domain/Reason.ts"
import type { Reason } from "../domain/Reason.ts"

export interface Submitted {
  readonly vcs: "subversion" | "perforce"
  /** Number, of a shelf with its version. */
  readonly revision: string
  /** A shelf is reviewed before its submit, by itself. */
  readonly state: "submitted" | "shelved"
  /** Number to compare with, if the hook reported one. */
  readonly base: string | undefined
  readonly author: string | undefined
  readonly client: string | undefined
  readonly description: string
  /** Workspaces that the caller's key opens; undefined: all. */
  readonly workspaces: ReadonlyArray<string> | undefined
  /** Person who requested this review: windows, `include_branches` and `exclude_sources` do not apply. */
  readonly requestedBy: string | undefined
}

export type StreamDecision =
  | ({ readonly _tag: "Admitted"; readonly change: Change; readonly dueAt: number } & Bound)
  /** `waits`: a reload of the configuration may add the workspace. */
  | { readonly _tag: "Refused"; readonly reason: Reason; readonly waits: boolean }

export const admitStream = (
  snapshot: Snapshot,
  trigger: TriggerProfile,
  change: Submitted,
  stream: ChangedStream,
  now: number
): StreamDecision => {
  const { branch } = stream
  const name: Reason = branch === "" ? { _tag: "WholeRepository" } : verbatimReason(branch)
  if (stream.removed) return refuse({ _tag: "BranchRemoved", revision: change.revision, name })
  if (stream.tag) return refuse({ _tag: "TagPushed", name })
  const found = workspacesOf(snapshot, trigger, branch).filter(
    ({ workspace: { id } }) => change.workspaces === undefined || change.workspaces.includes(id)
  )
  const enabled = found.filter(({ workspace }) => workspace.enabled)
  const [bound] = enabled
  if (bound === undefined) {
    const disabled = found[0]?.workspace
    return disabled === undefined
      ? refuse({ _tag: "NoWorkspaceMatches", trigger: trigger.name, name }, true)
      : refuse({ _tag: "MatchingWorkspaceDisabled", workspace: disabled.id })
  }
  if (enabled.length > 1)
    return refuse({ _tag: "SeveralWorkspacesMatch", names: enabled.map(({ workspace }) => workspace.id), name })
  const { rule, workspace } = bound
  const { include_branches: branches = [], exclude_sources = [] } = workspace.review.auto_commit
  const names = namesOf(trigger, branch)
  const isAutomatic = change.requestedBy === undefined
  if (isAutomatic && branches.length > 0 && branch !== "" && !names.some((one) => branches.includes(one))) {
    return refuse({ _tag: "BranchNotWatched", workspace: workspace.id, name })
  }
  const { author, client, description, vcs } = change
  if (isAutomatic && isExcludedChange(exclude_sources, { vcs, author, client, description, branches: names })) {
    return refuse({ _tag: "ChangeExcluded", workspace: workspace.id })
  }
  if (!stream.more && !stream.paths.some(isReviewed(trigger, workspace, branch))) {
    return refuse({ _tag: "PathsExcluded", trigger: trigger.name, workspace: workspace.id })
  }
  return {
    _tag: "Admitted",
    workspace,
    rule,
    dueAt: toDue(workspace, change, now),
    change: toChange(trigger, workspace, change, stream)
  }
}

/** A shelf does not wait for further changes of its author. */
const toDue = ({ review }: Workspace, { requestedBy, state }: Submitted, now: number): number => {
  if (requestedBy !== undefined) return commandDue(review, state === "shelved" ? "pull_request" : "push", now)
  return state === "shelved" ? pullRequestDue(review, now) : pushDue(review, now)
}

const refuse = (reason: Reason, waits = false): StreamDecision => ({ _tag: "Refused", reason, waits })

/** A property of the branch itself has no path that filters could exclude. */
const isReviewed = (
  { settings }: TriggerProfile,
  { review }: Workspace,
  branch: string
): ((path: string) => boolean) => {
  const watchPath = pathsInBranch(settings.watch_path ?? [], branch)
  const { include_cr_file: included = [], exclude_cr_file: excluded = [] } = settings
  const watched = watchPath.length === 0 ? () => true : underAny(watchPath)
  const includes = included.length === 0 ? () => true : anyGlob(included)
  const excludes = anyGlob(excluded)
  const [ownIncludes, ownExcludes] = [anyGlob(review.include), anyGlob(review.exclude)]
  return (path) =>
    path === "" || (watched(path) && includes(path) && !excludes(path) && ownIncludes(path) && !ownExcludes(path))
}

const namesOf = ({ kind }: TriggerProfile, branch: string): ReadonlyArray<string> =>
  kind === "perforce" ? listStreamNames(branch) : listBranchNames(branch)

interface Bound {
  readonly workspace: Workspace
  /** Match rule of the workspace that hit. */
  readonly rule: string | undefined
}

/** Returns the workspaces bound to the repository by name, or by rules, which may name the branch. */
const workspacesOf = (snapshot: Snapshot, trigger: TriggerProfile, branch: string): ReadonlyArray<Bound> => {
  const { kind, name, settings } = trigger
  const url = cleanPath(settings.repository_url ?? "")
  const location = kind === "perforce" ? branch : branch === "" ? url : `${url}/${branch}`
  const bound = [...snapshot.workspaces.values()].filter(({ instance: { source_repo: source } }) => {
    if (source?.trigger !== name) return false
    return !isLocation(source.repo) || isWithin(source.repo, location)
  })
  const names: ReadonlyArray<string | undefined> = branch === "" ? [undefined] : namesOf(trigger, branch)
  // Rules name a depot path: that of the trigger, that of the stream, or the depot.
  const repositories =
    kind === "perforce"
      ? [...new Set([cleanPath(settings.depot_path ?? branch), branch, branch.split("/").slice(0, 3).join("/")])]
      : [url]
  const matched = repositories.flatMap((repo_ref) =>
    names.flatMap((one) => {
      const facts = { vcs: kind, repo_ref, branch: one }
      return snapshot
        .route(name, facts)
        .map((workspace): Bound => ({ workspace, rule: snapshot.matchedRule(workspace, name, facts) }))
    })
  )
  const all = [...bound.map((workspace): Bound => ({ workspace, rule: undefined })), ...matched]
  return all.filter(({ workspace }, index) => all.findIndex((one) => one.workspace === workspace) === index)
}

/** `//depot/main/...` is `//depot/main`. */
const cleanPath = (path: string): string => path.replace(/\/?\.\.\.$/, "").replace(/(?<!\/)\/+$/, "")

/** A name that is neither a URL nor a depot path does not restrict branches: the trigger names the repository. */
const isLocation = (repo: string): boolean => /^(?:[a-z+]+:)?\/\//.test(repo)

/** A branch that contains more than the repository of the workspace is not reviewed there. */
const isWithin = (repo: string, location: string): boolean => {
  const [outer, inner] = [cleanPath(repo), location].map(decodePath)
  return outer !== undefined && inner !== undefined && (inner === outer || inner.startsWith(`${outer}/`))
}

/** URLs may be written encoded. */
const decodePath = (path: string): string => {
  if (path.startsWith("//")) return path
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Returns the locations that are branches of their own, of the trigger and of its workspaces: depot paths, or URLs of Subversion. */
export const listRoots = (snapshot: Snapshot, { name, settings }: TriggerProfile): ReadonlyArray<string> => {
  const bound = [...snapshot.workspaces.values()].flatMap(({ instance: { source_repo: source } }) =>
    source?.trigger === name && isLocation(source.repo) ? [source.repo] : []
  )
  const own = settings.depot_path
  return [...new Set([...(own === undefined ? [] : [own]), ...bound].map(cleanPath))]
}

/**
 * Returns the depot paths of Perforce, none of them within another one, outside of which no enabled workspace reviews a change of the trigger:
 * those of its workspaces, or the one of the trigger if a workspace is bound by another name or by rules.
 */
export const listWatchedPaths = (snapshot: Snapshot, { name, settings }: TriggerProfile): ReadonlyArray<string> => {
  // "" is the whole server.
  const own = cleanPath(settings.depot_path ?? "")
  const enabled = [...snapshot.workspaces.values()].filter((workspace) => workspace.enabled)
  const bound = enabled.flatMap(({ instance: { source_repo: source } }) =>
    source?.trigger === name ? [source.repo] : []
  )
  const isByRules = enabled.some(({ instance: { match = [] } }) => match.length > 0)
  const roots = isByRules || !bound.every(isLocation) ? [own] : bound.map(cleanPath)
  const within = roots.flatMap((root) => (isBelow(own, root) ? [root] : isBelow(root, own) ? [own] : []))
  const outer = [...new Set(within)].filter((one) => !within.some((other) => other !== one && isBelow(other, one)))
  return outer.map((path) => (path === "" ? "//..." : `${path}/...`))
}

/** Depots may fold case, so folders are compared without regard to it. */
const isBelow = (outer: string, inner: string): boolean =>
  `${inner}/`.toLowerCase().startsWith(`${outer}/`.toLowerCase())

const maxTitle = 1000

const toChange = (
  trigger: TriggerProfile,
  workspace: Workspace,
  { author, base, client, description, requestedBy, revision, state, vcs }: Submitted,
  { branch, previous }: ChangedStream
): Change => ({
  provider: vcs,
  trigger: trigger.name,
  workspace: workspace.id,
  repo: { fullName: repositoryName(trigger, workspace) },
  target:
    state === "shelved"
      ? { kind: "commit", branch: toShelfName(branch, revision.split("-", 1)[0] ?? "") }
      : { kind: "push", branch: branch === "" ? undefined : branch },
  head: revision,
  base: base !== undefined && Number(base) < Number(revision) ? base : (previous ?? "0"),
  headRef: branch === "" ? undefined : branch,
  title: description.split("\n", 1)[0]?.slice(0, maxTitle),
  description,
  author: author === undefined ? undefined : { username: author },
  ...(client === undefined ? {} : { client }),
  ...(requestedBy === undefined ? {} : { requestedBy }),
  commits: 1
})

/** Returns the name of `source_repo`, else host and path of the URL, or the depot path. */
const repositoryName = ({ settings }: TriggerProfile, { instance }: Workspace): string => {
  const name = instance.source_repo?.repo
  const url = name ?? settings.repository_url ?? settings.depot_path ?? ""
  return toRepositoryName(url)
}
