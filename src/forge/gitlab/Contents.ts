/** Files and commit authors of GitLab. */
import { Effect } from "effect"
import type { ForgeClient } from "../Forge.ts"
import type { Rest } from "../http/Http.ts"
import { RepoFile, decodeFile } from "../hosts/RepoFile.ts"
import { WrittenCommit } from "./Responses.ts"
import { projectId, projectPath } from "./Paths.ts"

export const gitlabContents = (rest: Rest): Pick<ForgeClient, "file" | "commitAuthor"> => ({
  file: (repo, ref, path) =>
    decodeFile(
      rest.get(
        {
          path: `${projectPath}/repository/files/{file_path}`,
          params: { id: projectId(repo), file_path: path },
          query: { ref }
        },
        RepoFile
      )
    ),
  commitAuthor: (repo, head) =>
    Effect.map(
      rest.get(
        { path: `${projectPath}/repository/commits/{sha}`, params: { id: projectId(repo), sha: head } },
        WrittenCommit
      ),
      ({ author_email: email, author_name: name }) => ({
        name: name ?? undefined,
        email: email || undefined,
        account: undefined
      })
    )
})
