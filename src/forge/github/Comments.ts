/** Comments and commit statuses of GitHub. */
import { Effect } from "effect"
import type { Repo } from "../../domain/Change.ts"
import type { ForgeClient } from "../Forge.ts"
import type { Rest } from "../http/Http.ts"
import { ownerAndName } from "../http/Profile.ts"
import { undefinedIfMissing } from "../http/UndefinedIfMissing.ts"
import type { Access } from "./Access.ts"
import { statusContext } from "./CheckIdentity.ts"
import { Note, Status } from "./Responses.ts"
import { ownNotes, toOwnText } from "./OwnNotes.ts"

const repoPath = "/repos/{owner}/{repo}"
// Of the four states only `error` implies no verdict; `pending` promises one (docs/publishing.md).
export const stateNames = { pending: "pending", success: "success", failure: "failure", neutral: "error" } as const
const maxStatusLength = 140

export const githubComments = (
  host: Pick<Access, "rest" | "self">
): Pick<ForgeClient, "createComment" | "updateComment" | "commentText" | "findComment"> => {
  const own = ownNotes(host)
  const write = (
    repo: Repo,
    call: {
      readonly method: "POST" | "PATCH"
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
    updateComment: (repo, _number, hostId, body) =>
      write(
        repo,
        { method: "PATCH", path: `${repoPath}/issues/comments/{comment_id}`, params: { comment_id: hostId } },
        body
      ),
    commentText: (repo, _number, hostId) =>
      host
        .rest(repo)
        .get(
          {
            path: `${repoPath}/issues/comments/{comment_id}`,
            params: { ...ownerAndName(repo), comment_id: hostId }
          },
          Note
        )
        .pipe(
          Effect.map(({ body }) => body ?? ""),
          undefinedIfMissing
        ),
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
