/**
 * Reviews of Gitea and Forgejo. A Gitea comment is on one line, so a range becomes a comment on its last line. Only one of the
 * two positions may be set; if both are, the old one takes precedence.
 */
import { Effect, Schema } from "effect"
import type { InlineComment } from "../../domain/Publication.ts"
import type { ForgeClient } from "../Forge.ts"
import type { OwnText } from "../HostWrite.ts"
import type { Rest } from "../Http.ts"
import { ownerAndName, sameName } from "../Profile.ts"
import { Review, ReviewComment, toUsername } from "./Responses.ts"
import { toOwnText } from "./Comments.ts"

export interface GiteaDialect {
  /** True where a comment may span lines: `extra_lines_count` after its first line. */
  readonly ranges: boolean
  /** True where the API has runs of CI and their artifacts. */
  readonly hasActions: boolean
}

const reviewsPath = "/repos/{owner}/{repo}/pulls/{index}/reviews"
const pages = { name: "limit", value: 50 } as const

/** Returns the position of a comment. The values are line numbers, despite the name `position`. */
const toPosition = (comment: InlineComment, dialect: GiteaDialect) => {
  const first = dialect.ranges && comment.start !== undefined ? comment.start : comment.line
  return {
    path: comment.path,
    body: comment.body,
    new_position: comment.side === "new" ? first : 0,
    old_position: comment.side === "old" ? first : 0,
    ...(first === comment.line ? {} : { extra_lines_count: comment.line - first })
  }
}

export const giteaReviews = (
  rest: Rest,
  self: ForgeClient["self"],
  dialect: GiteaDialect
): Pick<ForgeClient, "createReview" | "verdicts" | "reviewTexts"> => {
  const createReview: ForgeClient["createReview"] = (repo, number, review) =>
    Effect.map(
      rest.write(
        {
          method: "POST",
          path: reviewsPath,
          params: { ...ownerAndName(repo), index: number },
          body: {
            event: review.event === "APPROVE" ? "APPROVED" : review.event,
            commit_id: review.head,
            body: review.body,
            comments: review.comments.map((comment) => toPosition(comment, dialect))
          },
          content: true
        },
        Review
      ),
      (created) => ({ hostId: String(created.id), url: created.html_url ?? undefined, refused: [] })
    )

  const verdicts: ForgeClient["verdicts"] = {
    requests: Effect.fnUntraced(function* (repo, number) {
      const account = yield* self
      const params = { ...ownerAndName(repo), index: number }
      const all = yield* rest.pages({ path: reviewsPath, params }, Review, pages)
      return all
        .filter(({ state, dismissed }) => state === "REQUEST_CHANGES" && dismissed !== true)
        .filter(({ user }) => sameName(toUsername(user), account.username))
        .map(toOwnText)
    }),
    dismiss: (repo, number, hostId, message) =>
      Effect.map(
        rest.write(
          {
            method: "POST",
            path: `${reviewsPath}/{id}/dismissals`,
            params: { ...ownerAndName(repo), index: number, id: hostId },
            body: { message },
            content: true
          },
          Review
        ),
        toOwnText
      )
  }

  const reviewTexts: ForgeClient["reviewTexts"] = Effect.fnUntraced(function* (repo, number) {
    const account = yield* self
    const params = { ...ownerAndName(repo), index: number }
    const reviews = yield* rest.pages({ path: reviewsPath, params }, Review, pages)
    const own = reviews.filter((review) => sameName(toUsername(review.user), account.username))
    const texts: Array<OwnText> = []
    for (const review of own) {
      texts.push(toOwnText(review))
      if (review.comments_count === 0) continue
      const comments = yield* rest.get(
        { path: `${reviewsPath}/{id}/comments`, params: { ...params, id: review.id } },
        Schema.NullOr(Schema.Array(ReviewComment))
      )
      texts.push(...(comments ?? []).map(toOwnText))
    }
    return texts
  })

  return { createReview, verdicts, reviewTexts }
}
