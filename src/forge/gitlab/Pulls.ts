/** Merge requests and branches of GitLab. */
import { Clock, Effect, Schema } from "effect"
import type { Repo } from "../../domain/Change.ts"
import type { ForgeClient, HostPull } from "../Forge.ts"
import type { Rest } from "../http/Http.ts"
import { undefinedIfMissing } from "../http/UndefinedIfMissing.ts"
import { ForgeError } from "../ForgeError.ts"
import { Branch, Commit, ListedMergeRequest, MergeRequest, toPerson, Version } from "./Responses.ts"
import type { DiffRefs } from "./Responses.ts"
import { mergeRequest, mergeRequestPath, projectId, projectPath } from "./Paths.ts"
import { pages, refusals } from "./Facts.ts"
import { isRefused } from "../http/HostWords.ts"

const states = { opened: "open", locked: "open", closed: "closed", merged: "merged" } as const

const toPull = (source: typeof MergeRequest.Type, refs: DiffRefs, repo: Repo): HostPull => ({
  number: source.iid,
  state: states[source.state],
  draft: source.draft ?? source.work_in_progress ?? false,
  head: refs.head_sha,
  base: refs.start_sha,
  headRef: source.source_branch,
  baseRef: source.target_branch,
  title: source.title,
  description: source.description ?? "",
  url: source.web_url,
  author: source.author ? toPerson(source.author) : undefined,
  labels: source.labels ?? [],
  repo: source.project_id === undefined ? repo : { ...repo, hostId: source.project_id },
  headRepo: toHeadRepo(source, repo),
  comments: source.user_notes_count ?? undefined,
  ...(source.state === "merged" ? mergeOf(source, refs) : {})
})

/** A fast-forward has the head itself as its end. */
const mergeOf = (source: typeof MergeRequest.Type, refs: DiffRefs): Pick<HostPull, "mergeCommit" | "mergedBy"> => {
  const person = source.merge_user ?? source.merged_by
  return {
    mergeCommit: source.merge_commit_sha ?? source.squash_commit_sha ?? refs.head_sha,
    mergedBy: person ? toPerson(person) : undefined
  }
}

const toHeadRepo = (
  { project_id: target, source_project_id: head }: typeof MergeRequest.Type,
  repo: Repo
): HostPull["headRepo"] => {
  if (head === undefined || head === null) return undefined
  return head === target ? { fullName: repo.fullName, hostId: head } : { hostId: head }
}

/** Time for which the commits of a merge request are used that were read before a write to it. */
const refsMaxAge = 10_000
const maxRefs = 64

/** The commits of the differences that were read last: a review is written right after its head was read. */
export const recentRefs = () => {
  const latest = new Map<string, { readonly at: number; readonly refs: DiffRefs }>()
  const keyOf = (repo: Repo, number: number) => `${repo.fullName} ${number}`
  return {
    note: (repo: Repo, number: number, refs: DiffRefs, at: number): void => {
      const [oldest] = latest.keys()
      if (oldest !== undefined && latest.size >= maxRefs) latest.delete(oldest)
      latest.set(keyOf(repo, number), { at, refs })
    },
    /** Returns those of this head. */
    find: (repo: Repo, number: number, head: string, now: number): DiffRefs | undefined => {
      const entry = latest.get(keyOf(repo, number))
      const isRecent = entry !== undefined && now >= entry.at && now - entry.at <= refsMaxAge
      return isRecent && entry.refs.head_sha === head ? entry.refs : undefined
    }
  }
}

const describe =
  (rest: Rest): ForgeClient["describe"] =>
  (repo, number, description) =>
    Effect.asVoid(
      rest.write(
        {
          method: "PUT",
          path: mergeRequestPath,
          params: mergeRequest(repo, number),
          body: { description },
          content: true
        },
        Schema.Unknown
      )
    )

export const gitlabPulls = (
  rest: Rest,
  recent: ReturnType<typeof recentRefs>
): Pick<ForgeClient, "pull" | "describe" | "openPulls" | "branchHead" | "branchTip" | "newestCommit"> => ({
  pull: Effect.fnUntraced(function* (repo, number) {
    const at = yield* Clock.currentTimeMillis
    const source = yield* rest.get({ path: mergeRequestPath, params: mergeRequest(repo, number) }, MergeRequest)
    if (source.diff_refs) {
      recent.note(repo, number, source.diff_refs, at)
      return toPull(source, source.diff_refs, repo)
    }
    // GitLab computes the difference in the background after a merge request was opened or pushed to.
    const [version] = yield* rest.pages(
      { path: `${mergeRequestPath}/versions`, params: mergeRequest(repo, number) },
      Version,
      { ...pages, max: 1 }
    )
    if (version === undefined || version.head_commit_sha !== (source.sha ?? version.head_commit_sha))
      return yield* new ForgeError({
        reason: "unavailable",
        operation: "read of a merge request",
        why: { _tag: "DifferenceNotComputed", number }
      })
    const refs = { base_sha: version.base_commit_sha, start_sha: version.start_commit_sha }
    return toPull(source, { ...refs, head_sha: version.head_commit_sha }, repo)
  }),
  describe: describe(rest),
  openPulls: (repo, head) =>
    rest
      .pages(
        {
          path: `${projectPath}/repository/commits/{sha}/merge_requests`,
          params: { id: projectId(repo), sha: head }
        },
        ListedMergeRequest,
        pages
      )
      .pipe(
        Effect.map((mergeRequests) =>
          mergeRequests.flatMap((listed) => (listed.state === "opened" && listed.sha === head ? [listed.iid] : []))
        ),
        Effect.catchIf(isRefused(refusals.commitUnknown), () => Effect.succeed([]))
      ),
  branchHead: (repo, branch) =>
    Effect.map(
      rest.get(
        { path: `${projectPath}/repository/commits/{sha}`, params: { id: projectId(repo), sha: branch } },
        Commit
      ),
      (commit) => commit.id
    ),
  branchTip: (repo, branch) =>
    rest
      .get({ path: `${projectPath}/repository/branches/{branch}`, params: { id: projectId(repo), branch } }, Branch)
      .pipe(
        Effect.map((tip) => ({ commit: tip.commit.id, isProtected: tip.protected, isDefault: tip.default })),
        undefinedIfMissing
      ),
  newestCommit: (repo, { branch, until }) =>
    Effect.map(
      rest.get(
        {
          path: `${projectPath}/repository/commits`,
          params: { id: projectId(repo) },
          query: {
            ref_name: branch,
            until: until === undefined ? undefined : new Date(until).toISOString(),
            per_page: 1
          }
        },
        Schema.Array(Commit)
      ),
      (commits) => commits[0]?.id
    )
})
