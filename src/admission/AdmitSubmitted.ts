/**
 * Decides about a submitted change whose metadata its server has returned: which workspace reviews which of its branches, from when. Pure.
 */
import type { Snapshot, TriggerProfile, Workspace } from "../config/Snapshot.ts"
import { listBranchNames } from "../domain/BranchNames.ts"
import type { Change } from "../domain/Change.ts"
import { anyGlob, underAny } from "../domain/Globs.ts"
import { pushDue } from "./Due.ts"
import { isExcludedChange } from "./Exclude.ts"
import { pathsInBranch } from "./PathsInBranch.ts"

/** A branch that a change touches; see `ChangedStream` of src/vcs. */
export interface SubmittedStream {
  readonly branch: string
  readonly paths: ReadonlyArray<string>
  readonly more: boolean
  readonly previous: string | undefined
  readonly removed: boolean
  readonly tag: boolean
}

export interface Submitted {
  readonly vcs: "subversion"
  readonly revision: string
  readonly author: string | undefined
  readonly client: string | undefined
  readonly description: string
  /** Workspaces that the caller's key opens; undefined: all. */
  readonly workspaces: ReadonlyArray<string> | undefined
}

export type StreamDecision =
  | { readonly _tag: "Admitted"; readonly change: Change; readonly dueAt: number; readonly workspace: Workspace }
  /** `waits`: a reload of the configuration may add the workspace. */
  | { readonly _tag: "Refused"; readonly reason: string; readonly waits: boolean }

export const admitStream = (
  snapshot: Snapshot,
  trigger: TriggerProfile,
  change: Submitted,
  stream: SubmittedStream,
  now: number
): StreamDecision => {
  const { branch } = stream
  const name = branch === "" ? "the repository" : branch
  if (stream.removed) return refuse(`branch_removed: revision ${change.revision} removes ${name}`)
  if (stream.tag) return refuse(`tag: ${name} is a tag, which is not reviewed`)
  const found = workspacesOf(snapshot, trigger, branch).filter(
    ({ id }) => change.workspaces === undefined || change.workspaces.includes(id)
  )
  const enabled = found.filter((workspace) => workspace.enabled)
  const [workspace] = enabled
  if (workspace === undefined) {
    const disabled = found[0]
    return disabled === undefined
      ? refuse(`repository_not_configured: no workspace of trigger ${trigger.name} matches ${name}`, true)
      : refuse(`workspace_disabled: workspace ${disabled.id} is disabled`)
  }
  if (enabled.length > 1)
    return refuse(`ambiguous_route: the workspaces ${enabled.map(({ id }) => id).join(", ")} match ${name}`)
  const { include_branches: branches = [], exclude_sources = [] } = workspace.review.auto_commit
  const names = listBranchNames(branch)
  if (branches.length > 0 && branch !== "" && !names.some((one) => branches.includes(one))) {
    return refuse(
      `branch_not_watched: review.auto_commit.include_branches of workspace ${workspace.id} does not contain ${name}`
    )
  }
  const { author, client, description, revision, vcs } = change
  if (isExcludedChange(exclude_sources, { vcs, revision, files: [], user: author, client, description })) {
    return refuse(
      `source_excluded: review.auto_commit.exclude_sources of workspace ${workspace.id} excludes this change`
    )
  }
  if (!stream.more && !stream.paths.some(isReviewed(trigger, workspace, branch))) {
    return refuse(
      `no_reviewed_path: the filters of trigger ${trigger.name} and workspace ${workspace.id} exclude every changed path`
    )
  }
  return {
    _tag: "Admitted",
    workspace,
    dueAt: pushDue(workspace.review, now),
    change: toChange(trigger, workspace, change, stream)
  }
}

const refuse = (reason: string, waits = false): StreamDecision => ({ _tag: "Refused", reason, waits })

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

/** Returns the workspaces bound to the repository by name, or by rules, which may name the branch. */
const workspacesOf = (
  snapshot: Snapshot,
  { kind, name, settings }: TriggerProfile,
  branch: string
): ReadonlyArray<Workspace> => {
  const url = (settings.repository_url ?? "").replace(/(?<!\/)\/+$/, "")
  const bound = [...snapshot.workspaces.values()].filter(({ instance: { source_repo: source } }) => {
    if (source?.trigger !== name) return false
    // A name that is not a URL does not restrict branches: the trigger names the repository.
    return !/^[a-z+]+:\/\//.test(source.repo) || covers(source.repo, branch === "" ? url : `${url}/${branch}`)
  })
  const names: ReadonlyArray<string | undefined> = branch === "" ? [undefined] : listBranchNames(branch)
  const matched = names.flatMap((one) => snapshot.route(name, { vcs: kind, repo_ref: url, branch: one }))
  return [...new Set([...bound, ...matched])]
}

const covers = (outer: string, inner: string): boolean => {
  const prefix = outer.replace(/(?<!\/)\/+$/, "")
  return inner === prefix || inner.startsWith(`${prefix}/`) || prefix.startsWith(`${inner}/`)
}

const maxTitle = 1000

const toChange = (
  trigger: TriggerProfile,
  workspace: Workspace,
  { author, client, description, revision }: Submitted,
  { branch, previous }: SubmittedStream
): Change => ({
  provider: "subversion",
  trigger: trigger.name,
  workspace: workspace.id,
  repo: { fullName: repositoryName(trigger, workspace) },
  target: { kind: "push", branch: branch === "" ? undefined : branch },
  head: revision,
  base: previous ?? "0",
  headRef: branch === "" ? undefined : branch,
  title: description.split("\n", 1)[0]?.slice(0, maxTitle),
  description,
  author: author === undefined ? undefined : { username: author },
  ...(client === undefined ? {} : { client }),
  commits: 1
})

/** Returns the name of `source_repo`, else host and path of the URL. */
const repositoryName = ({ settings }: TriggerProfile, { instance }: Workspace): string => {
  const name = instance.source_repo?.repo
  const url = name ?? settings.repository_url ?? ""
  return url.replace(/^[a-z+]+:\/\/\/?/, "").replace(/(?<!\/)\/+$/, "")
}
