/** Reviews of GitHub. */
import { Effect } from "effect"
import type { InlineComment } from "../../domain/Publication.ts"
import type { ForgeClient } from "../Forge.ts"
import { ownerAndName, sameName } from "../Profile.ts"
import type { Access } from "./Access.ts"
import { Note, Review } from "./Responses.ts"
import { ownNotes, toOwnText } from "./OwnNotes.ts"

const pullPath = "/repos/{owner}/{repo}/pulls/{pull_number}"
const pages = { name: "per_page", value: 100 } as const

/** Returns the position of a comment: its last line, and its first line if it spans several. */
const toPosition = (comment: InlineComment) => {
  const side = comment.side === "new" ? "RIGHT" : "LEFT"
  return {
    path: comment.path,
    body: comment.body,
    line: comment.line,
    side,
    ...(comment.start === undefined || comment.start >= comment.line
      ? {}
      : { start_line: comment.start, start_side: side })
  }
}

const githubVerdicts = ({ rest, self }: Pick<Access, "rest" | "self">): ForgeClient["verdicts"] => ({
  requests: Effect.fnUntraced(function* (repo, number) {
    const account = yield* self
    const path = `${pullPath}/reviews`
    const params = { ...ownerAndName(repo), pull_number: number }
    const all = yield* rest(repo).pages({ path, params }, Review, pages)
    return all
      .filter(({ state, user }) => state === "CHANGES_REQUESTED" && sameName(user?.login, account.username))
      .map(toOwnText)
  }),
  dismiss: (repo, number, hostId, message) =>
    Effect.map(
      rest(repo).write(
        {
          method: "PUT",
          path: `${pullPath}/reviews/{review_id}/dismissals`,
          params: { ...ownerAndName(repo), pull_number: number, review_id: hostId },
          body: { message, event: "DISMISS" },
          content: true
        },
        Note
      ),
      toOwnText
    )
})

export const githubReviews = (
  host: Pick<Access, "rest" | "self">
): Pick<ForgeClient, "createReview" | "verdicts" | "reviewTexts"> => {
  const own = ownNotes(host)
  return {
    createReview: (repo, number, review) =>
      Effect.map(
        host.rest(repo).write(
          {
            method: "POST",
            path: `${pullPath}/reviews`,
            params: { ...ownerAndName(repo), pull_number: number },
            body: {
              event: review.event,
              commit_id: review.head,
              body: review.body,
              comments: review.comments.map(toPosition)
            },
            content: true
          },
          Note
        ),
        (created) => ({ hostId: String(created.id), url: created.html_url ?? undefined, refused: [] })
      ),
    verdicts: githubVerdicts(host),
    reviewTexts: Effect.fnUntraced(function* (repo, number) {
      const reviews = yield* own(repo, `${pullPath}/reviews`, { pull_number: number })
      const comments = yield* own(repo, `${pullPath}/comments`, { pull_number: number })
      return [...reviews, ...comments]
    })
  }
}
