/** Files and commit authors of GitHub. */
import { Effect } from "effect"
import type { Repo } from "../../domain/Change.ts"
import type { ForgeClient } from "../Forge.ts"
import type { Rest } from "../http/Http.ts"
import { ownerAndName, repoPath } from "../http/Profile.ts"
import { RepoFile, segments, decodeFile } from "../hosts/RepoFile.ts"
import { WrittenCommit } from "./Responses.ts"

export const githubContents = (rest: (repo: Repo) => Rest): Pick<ForgeClient, "file" | "commitAuthor"> => ({
  file: (repo, ref, path) => {
    const { template, params } = segments(path)
    return decodeFile(
      rest(repo).get(
        { path: `${repoPath}/contents/${template}`, params: { ...ownerAndName(repo), ...params }, query: { ref } },
        RepoFile
      )
    )
  },
  commitAuthor: (repo, head) =>
    Effect.map(
      rest(repo).get(
        { path: `${repoPath}/commits/{ref}`, params: { ...ownerAndName(repo), ref: head } },
        WrittenCommit
      ),
      ({ author, commit }) => ({
        name: commit.author?.name ?? undefined,
        email: commit.author?.email ?? undefined,
        account: author?.login ?? undefined
      })
    )
})
