/** The merge queue of GitHub: branches that only the host writes, one per queued pull request. */
import { Effect, Schema } from "effect"
import type { Repo } from "../../domain/Change.ts"
import type { HostMergeQueue } from "../Forge.ts"
import type { Rest } from "../http/Http.ts"
import { ownerAndName, repoPath } from "../http/Profile.ts"
import { queuePrefix, readLastPull } from "../webhook/MergeGroup.ts"
import { QueueCommit, QueueRef } from "./Responses.ts"

/** Maximum number of commits in one response. */
const perPage = 100

export const githubMergeQueue = (rest: (repo: Repo) => Rest): HostMergeQueue => ({
  commits: (repo, branch) =>
    Effect.map(
      rest(repo).get(
        { path: `${repoPath}/commits`, params: ownerAndName(repo), query: { sha: branch, per_page: perPage } },
        Schema.Array(QueueCommit)
      ),
      (commits) =>
        commits.map(({ commit, parents, sha }) => ({
          id: sha,
          parents: parents.map((parent) => parent.sha),
          title: commit.message?.split("\n", 1)[0]?.trim() ?? ""
        }))
    ),
  tips: (repo, baseRef) => {
    const ref = `heads/${queuePrefix(baseRef)}`
    return Effect.map(
      rest(repo).get(
        { path: `${repoPath}/git/matching-refs/{ref}`, params: { ...ownerAndName(repo), ref } },
        Schema.Array(QueueRef)
      ),
      (refs) =>
        new Map(
          refs.flatMap(({ object, ref: name }) => {
            const number = readLastPull(name.slice(`refs/${ref}`.length))
            return number === undefined ? [] : [[object.sha, number] as const]
          })
        )
    )
  }
})
