/**
 * Reviews of Gitea and Forgejo. A comment of Gitea and of old versions of Forgejo is on one line, so a range becomes a comment on its last line. Only one of the
 * two positions may be set; if both are, the old one takes precedence.
 */
import { Effect, Schema } from "effect"
import type { InlineComment } from "../../domain/Publication.ts"
import type { ForgeClient } from "../Forge.ts"
import type { OwnText } from "../HostWrite.ts"
import type { Rest } from "../http/Http.ts"
import { isBy } from "../hosts/OwnAccount.ts"
import { memoize, ownerAndName } from "../http/Profile.ts"
import { Review, toAuthor } from "./Responses.ts"
import { reviewsPath } from "./ReviewList.ts"
import type { GiteaReviewList } from "./ReviewList.ts"
import { toOwnText } from "./Comments.ts"

export interface GiteaDialect {
  /** First version where a comment may span lines: `extra_lines_count` after its first line. Undefined: none. */
  readonly rangesFrom: number | undefined
  /** True where the API adds a comment to a published review. */
  readonly extendsReviews: boolean
  /** True where the API has runs of CI and their artifacts. */
  readonly hasActions: boolean
}

/** Returns the position of a comment. The values are line numbers, despite the name `position`. */
const toPosition = (comment: InlineComment, hasRanges: boolean) => {
  const first = hasRanges && comment.start !== undefined ? comment.start : comment.line
  return {
    path: comment.path,
    body: comment.body,
    new_position: comment.side === "new" ? first : 0,
    old_position: comment.side === "old" ? first : 0,
    ...(first === comment.line ? {} : { extra_lines_count: comment.line - first })
  }
}

const ServerVersion = Schema.Struct({ version: Schema.String })

/** Returns the major version of the server. */
const readMajor = (rest: Rest) =>
  memoize(
    Effect.map(rest.get({ path: "/version" }, ServerVersion), ({ version }) => Number(/^\d+/.exec(version)?.[0] ?? 0))
  )

export const giteaReviews = (
  rest: Rest,
  self: ForgeClient["self"],
  dialect: GiteaDialect,
  list: GiteaReviewList
): Pick<ForgeClient, "createReview" | "verdicts" | "reviewTexts"> => {
  const major = readMajor(rest)
  const { rangesFrom } = dialect
  /** The version is read before the first comment on several lines. A server that does not return it gets the last line. */
  const takesRanges = (comments: ReadonlyArray<InlineComment>) =>
    rangesFrom === undefined || comments.every(({ start }) => start === undefined)
      ? Effect.succeed(false)
      : Effect.orElseSucceed(
          Effect.map(major, (version) => version >= rangesFrom),
          () => false
        )

  const createReview: ForgeClient["createReview"] = Effect.fnUntraced(function* (repo, number, review) {
    // The server writes the comments one by one into the pending review of the account and submits that: it would submit whatever
    // an earlier attempt or a person left in it, too.
    yield* review.pending.settle(yield* list.pending(repo, number))
    const hasRanges = yield* takesRanges(review.comments)
    const created = yield* rest.write(
      {
        method: "POST",
        path: reviewsPath,
        params: { ...ownerAndName(repo), index: number },
        body: {
          event: review.event === "APPROVE" ? "APPROVED" : review.event,
          commit_id: review.head,
          body: review.body,
          comments: review.comments.map((comment) => toPosition(comment, hasRanges))
        },
        content: true
      },
      Review
    )
    yield* list.submitted(repo, number)
    return { hostId: String(created.id), url: created.html_url ?? undefined, refused: [] }
  })

  const verdicts: ForgeClient["verdicts"] = {
    requests: Effect.fnUntraced(function* (repo, number) {
      const account = yield* self
      return (yield* list.published(repo, number))
        .filter(({ state, dismissed }) => state === "REQUEST_CHANGES" && dismissed !== true)
        .filter(({ user }) => isBy(toAuthor(user), account))
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
    const own = (yield* list.published(repo, number)).filter((review) => isBy(toAuthor(review.user), account))
    const texts: Array<OwnText> = []
    for (const review of own) {
      texts.push(toOwnText(review))
      texts.push(...(yield* list.comments(repo, number, review)).map(toOwnText))
    }
    return texts
  })

  return { createReview, verdicts, reviewTexts }
}
