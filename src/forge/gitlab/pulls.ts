/** Merge requests and branches of GitLab. */
import { Effect, Schema } from "effect"
import type { Repo } from "../../domain/Change.ts"
import type { ForgeClient, HostPull } from "../Forge.ts"
import type { Rest } from "../Http.ts"
import { undefinedIfMissing } from "../UndefinedIfMissing.ts"
import { Branch, Commit, ListedMergeRequest, MergeRequest, personOf } from "./answers.ts"
import { mergeRequest, mergeRequestPath, projectId, projectPath } from "./paths.ts"

const pages = { name: "per_page", value: 100 } as const
const states = { opened: "open", locked: "open", closed: "closed", merged: "merged" } as const

const pullOf = (found: typeof MergeRequest.Type, repo: Repo): HostPull => ({
  number: found.iid,
  state: states[found.state],
  draft: found.draft ?? found.work_in_progress ?? false,
  head: found.diff_refs?.head_sha ?? found.sha ?? "",
  base: found.diff_refs?.start_sha ?? "",
  headRef: found.source_branch,
  baseRef: found.target_branch,
  title: found.title,
  description: found.description ?? "",
  url: found.web_url,
  author: found.author ? personOf(found.author) : undefined,
  labels: found.labels ?? [],
  repo: found.project_id === undefined ? repo : { ...repo, hostId: found.project_id }
})

export const gitlabPulls = (
  rest: Rest
): Pick<ForgeClient, "pull" | "openPulls" | "branchHead" | "protectedTip" | "newestCommit"> => ({
  pull: (repo, number) =>
    Effect.map(rest.get({ path: mergeRequestPath, params: mergeRequest(repo, number) }, MergeRequest), (found) =>
      pullOf(found, repo)
    ),
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
        Effect.map((found) => found.flatMap((one) => (one.state === "opened" && one.sha === head ? [one.iid] : []))),
        Effect.catchIf(
          (error) => error.reason === "not_found",
          () => Effect.succeed([])
        )
      ),
  branchHead: (repo, branch) =>
    Effect.map(
      rest.get(
        { path: `${projectPath}/repository/commits/{sha}`, params: { id: projectId(repo), sha: branch } },
        Commit
      ),
      (commit) => commit.id
    ),
  protectedTip: (repo, branch) =>
    rest
      .get({ path: `${projectPath}/repository/branches/{branch}`, params: { id: projectId(repo), branch } }, Branch)
      .pipe(
        Effect.map((found) => (found.protected ? found.commit.id : undefined)),
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
