/** Comments, the texts of reviews, and commit statuses of GitHub. */
import { Effect } from "effect"
import type { Repo } from "../../domain/Change.ts"
import type { ForgeClient } from "../Forge.ts"
import type { Rest } from "../http/Http.ts"
import { ownerAndName, repoPath } from "../http/Profile.ts"
import { undefinedIfMissing } from "../http/UndefinedIfMissing.ts"
import type { Access } from "./Access.ts"
import { isReviewText, toHostNumber } from "./CommentId.ts"
import { statusContext } from "./CheckIdentity.ts"
import { Note, Status } from "./Responses.ts"
import { ownNotes, toOwnText } from "./OwnNotes.ts"

// Of the four states only `error` implies no verdict; `pending` promises one (docs/publishing.md).
export const stateNames = { pending: "pending", success: "success", failure: "failure", neutral: "error" } as const
const maxStatusLength = 140

/** Returns where the API has a comment below a pull request, or the text of a review. */
const toAddress = (number: number, hostId: string) =>
  isReviewText(hostId)
    ? {
        path: `${repoPath}/pulls/{pull_number}/reviews/{review_id}`,
        params: { pull_number: number, review_id: toHostNumber(hostId) }
      }
    : { path: `${repoPath}/issues/comments/{comment_id}`, params: { comment_id: hostId } }

export const githubComments = (
  host: Pick<Access, "rest" | "self">
): Pick<ForgeClient, "createComment" | "updateComment" | "commentText" | "findComment"> => {
  const own = ownNotes(host)
  const write = (
    repo: Repo,
    call: {
      readonly method: "POST" | "PATCH" | "PUT"
      readonly path: string
      readonly params: Record<string, string | number>
    },
    body: string
  ) =>
    Effect.map(
      host
        .rest(repo)
        .write({ ...call, params: { ...ownerAndName(repo), ...call.params }, body: { body }, content: true }, Note),
      toOwnText
    )
  return {
    createComment: (repo, number, body) =>
      write(
        repo,
        { method: "POST", path: `${repoPath}/issues/{issue_number}/comments`, params: { issue_number: number } },
        body
      ),
    updateComment: (repo, number, hostId, body) =>
      Effect.map(
        write(repo, { method: isReviewText(hostId) ? "PUT" : "PATCH", ...toAddress(number, hostId) }, body),
        (written) => ({ ...written, hostId })
      ),
    commentText: (repo, number, hostId) => {
      const { params, path } = toAddress(number, hostId)
      return host
        .rest(repo)
        .get({ path, params: { ...ownerAndName(repo), ...params } }, Note)
        .pipe(
          Effect.map(({ body }) => body ?? ""),
          undefinedIfMissing
        )
    },
    findComment: (repo, number, marker) =>
      Effect.map(own(repo, `${repoPath}/issues/{issue_number}/comments`, { issue_number: number }), (comments) =>
        comments.findLast(({ body }) => body.includes(marker))
      )
  }
}

export const githubStatus =
  (rest: (repo: Repo) => Rest): ForgeClient["setStatus"] =>
  (repo, head, status) =>
    Effect.map(
      rest(repo).write(
        {
          method: "POST",
          path: `${repoPath}/statuses/{sha}`,
          params: { ...ownerAndName(repo), sha: head },
          body: {
            context: statusContext,
            state: stateNames[status.state],
            description: status.description.slice(0, maxStatusLength),
            ...(status.url === undefined ? {} : { target_url: status.url })
          },
          content: false
        },
        Status
      ),
      (created) => ({ hostId: String(created.id), url: created.url ?? undefined })
    )
