/** Comments and commit statuses of Gitea and Forgejo. */
import { Effect, Schema } from "effect"
import type { ForgeClient } from "../Forge.ts"
import type { OwnText } from "../HostWrite.ts"
import type { Rest } from "../http/Http.ts"
import { isBy } from "../hosts/OwnAccount.ts"
import { ownerAndName, repoPath } from "../http/Profile.ts"
import { undefinedIfMissing } from "../http/UndefinedIfMissing.ts"
import { searchComments } from "./NewestComment.ts"
import { Comment, Status, toAuthor } from "./Responses.ts"
import type { Review } from "./Responses.ts"

export const statusContext = "aicr/review"
export const stateNames = { pending: "pending", success: "success", failure: "failure", neutral: "warning" } as const

export const toOwnText = (item: typeof Comment.Type | typeof Review.Type): OwnText => ({
  hostId: String(item.id),
  url: item.html_url ?? undefined,
  body: item.body ?? ""
})

export const giteaComments = (
  rest: Rest,
  self: ForgeClient["self"]
): Pick<ForgeClient, "createComment" | "updateComment" | "commentText" | "findComment"> => {
  const createComment: ForgeClient["createComment"] = (repo, number, body) =>
    Effect.map(
      rest.write(
        {
          method: "POST",
          path: `${repoPath}/issues/{index}/comments`,
          params: { ...ownerAndName(repo), index: number },
          body: { body },
          content: true
        },
        Comment
      ),
      toOwnText
    )

  const updateComment: ForgeClient["updateComment"] = (repo, _number, hostId, body) =>
    Effect.map(
      rest.write(
        {
          method: "PATCH",
          path: `${repoPath}/issues/comments/{id}`,
          params: { ...ownerAndName(repo), id: hostId },
          body: { body },
          content: true
        },
        Comment
      ),
      toOwnText
    )

  const commentText: ForgeClient["commentText"] = (repo, _number, hostId) =>
    rest.get({ path: `${repoPath}/issues/comments/{id}`, params: { ...ownerAndName(repo), id: hostId } }, Comment).pipe(
      Effect.map(({ body }) => body ?? ""),
      undefinedIfMissing
    )

  const findComment: ForgeClient["findComment"] = Effect.fnUntraced(function* (repo, number, marker) {
    const account = yield* self
    const comment = yield* searchComments(
      rest,
      { ...ownerAndName(repo), index: number },
      Schema.Array(Comment),
      (comments) =>
        comments.findLast(({ user, body }) => isBy(toAuthor(user), account) && (body ?? "").includes(marker))
    )
    return comment === undefined ? undefined : toOwnText(comment)
  })

  return { createComment, updateComment, commentText, findComment }
}

export const giteaStatus =
  (rest: Rest): ForgeClient["setStatus"] =>
  (repo, head, status) =>
    Effect.map(
      rest.write(
        {
          method: "POST",
          path: `${repoPath}/statuses/{sha}`,
          params: { ...ownerAndName(repo), sha: head },
          body: {
            context: statusContext,
            state: stateNames[status.state],
            description: status.description,
            ...(status.url === undefined ? {} : { target_url: status.url })
          },
          content: false
        },
        Status
      ),
      (made) => ({ hostId: String(made.id), url: made.url ?? undefined })
    )
