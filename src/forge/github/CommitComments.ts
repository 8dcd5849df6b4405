/** Comments on commits of GitHub. */
import { Effect } from "effect"
import type { CommitComments } from "../Forge.ts"
import { isBy } from "../hosts/OwnAccount.ts"
import { ownerAndName } from "../http/Profile.ts"
import type { Access } from "./Access.ts"
import { Note, toAuthor } from "./Responses.ts"
import { toOwnText } from "./OwnNotes.ts"
import { pages } from "./Facts.ts"

const commentsPath = "/repos/{owner}/{repo}/commits/{commit_sha}/comments"

export const githubCommitComments = ({ rest, self }: Pick<Access, "rest" | "self">): CommitComments => ({
  create: (repo, head, body) =>
    Effect.map(
      rest(repo).write(
        {
          method: "POST",
          path: commentsPath,
          params: { ...ownerAndName(repo), commit_sha: head },
          body: { body },
          content: true
        },
        Note
      ),
      toOwnText
    ),
  find: Effect.fnUntraced(function* (repo, head, marker) {
    const account = yield* self
    const notes = yield* rest(repo).pages(
      { path: commentsPath, params: { ...ownerAndName(repo), commit_sha: head } },
      Note,
      pages
    )
    return notes
      .filter((note) => isBy(toAuthor(note.user), account))
      .map(toOwnText)
      .findLast((note) => note.body.includes(marker))
  })
})
