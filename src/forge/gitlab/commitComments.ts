/** Comments on commits of GitLab. */
import { Effect, Schema } from "effect"
import type { CommitComments, ForgeClient } from "../Forge.ts"
import type { Rest } from "../Http.ts"
import { sameName } from "../Profile.ts"
import { CommitNote } from "./answers.ts"
import { projectId, projectPath } from "./paths.ts"

const pages = { name: "per_page", value: 100 } as const

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
    const me = yield* self
    const notes = yield* rest.pages(
      { path: `${projectPath}/repository/commits/{sha}/comments`, params: { id: projectId(repo), sha: head } },
      CommitNote,
      pages
    )
    const found = notes.findLast((note) => sameName(note.author?.username, me.username) && note.note.includes(marker))
    return found === undefined ? undefined : { hostId: head, url: undefined, body: found.note }
  })
})
