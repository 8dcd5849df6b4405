/** Files and commit authors of Gitea and Forgejo. */
import { Effect } from "effect"
import type { CommitAuthor, ForgeClient } from "../Forge.ts"
import type { ForgeError } from "../ForgeError.ts"
import type { Rest } from "../http/Http.ts"
import { ownerAndName, repoPath } from "../http/Profile.ts"
import { RepoFile, segments, decodeFile } from "../hosts/RepoFile.ts"
import { WrittenCommit, toUsername } from "./Responses.ts"

export const giteaContents = (rest: Rest): Pick<ForgeClient, "file" | "commitAuthor"> => ({
  file: (repo, ref, path) => {
    const { template, params } = segments(path)
    return decodeFile(
      rest.get(
        { path: `${repoPath}/contents/${template}`, params: { ...ownerAndName(repo), ...params }, query: { ref } },
        RepoFile
      )
    )
  },
  commitAuthor: (repo, head): Effect.Effect<CommitAuthor, ForgeError> =>
    Effect.map(
      rest.get(
        {
          path: `${repoPath}/git/commits/{sha}`,
          params: { ...ownerAndName(repo), sha: head },
          query: { stat: "false", verification: "false", files: "false" }
        },
        WrittenCommit
      ),
      ({ author, commit }) => ({
        name: commit?.author?.name ?? undefined,
        email: commit?.author?.email ?? undefined,
        account: toUsername(author)
      })
    )
})
