/** Comments on commits of GitLab. */
import { Effect, Schema } from "effect"
import type { CommitComments, ForgeClient } from "../Forge.ts"
import type { Rest } from "../http/Http.ts"
import { isBy } from "../hosts/OwnAccount.ts"
import { CommitNote } from "./Responses.ts"
import { projectId, projectPath } from "./Paths.ts"
import { pages } from "./Facts.ts"

export const gitlabCommitComments = (rest: Rest, self: ForgeClient["self"]): CommitComments => ({
  create: (repo, head, body) =>
    Effect.as(
      rest.write(
        {
          method: "POST",
          path: `${projectPath}/repository/commits/{sha}/comments`,
          params: { id: projectId(repo), sha: head },
          body: { note: body },
          content: true
        },
        Schema.Unknown
      ),
      { hostId: head, url: undefined }
    ),
  find: Effect.fnUntraced(function* (repo, head, marker) {
    const account = yield* self
    const notes = yield* rest.pages(
      { path: `${projectPath}/repository/commits/{sha}/comments`, params: { id: projectId(repo), sha: head } },
      CommitNote,
      pages
    )
    const match = notes.findLast(({ author, note }) => author && isBy(author, account) && note.includes(marker))
    return match === undefined ? undefined : { hostId: head, url: undefined, body: match.note }
  })
})
