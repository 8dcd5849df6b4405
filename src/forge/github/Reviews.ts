/** Reviews of GitHub. */
import { Effect, Schema } from "effect"
import type { Repo } from "../../domain/Change.ts"
import type { InlineComment } from "../../domain/Publication.ts"
import type { ForgeClient, NewReview, PendingReview } from "../Forge.ts"
import { ForgeError } from "../ForgeError.ts"
import { isRefusedWith } from "../http/HostWords.ts"
import { isBy } from "../hosts/OwnAccount.ts"
import { ownerAndName } from "../http/Profile.ts"
import type { Access } from "./Access.ts"
import { toCommentId } from "./CommentId.ts"
import { Note, Review, toAuthor } from "./Responses.ts"
import { ownNotes, toOwnText } from "./OwnNotes.ts"
import { pages } from "./Facts.ts"

const pullPath = "/repos/{owner}/{repo}/pulls/{pull_number}"

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

type Host = Pick<Access, "rest" | "self">

const githubVerdicts = ({ rest, self }: Host): ForgeClient["verdicts"] => ({
  requests: Effect.fnUntraced(function* (repo, number) {
    const account = yield* self
    const path = `${pullPath}/reviews`
    const params = { ...ownerAndName(repo), pull_number: number }
    const all = yield* rest(repo).pages({ path, params }, Review, pages)
    return all
      .filter(({ state, user }) => state === "CHANGES_REQUESTED" && isBy(toAuthor(user), account))
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

/** Returns the pending reviews of the own account, of which GitHub permits one. */
const listPending = Effect.fnUntraced(function* ({ rest, self }: Host, repo: Repo, number: number) {
  const account = yield* self
  const params = { ...ownerAndName(repo), pull_number: number }
  const all = yield* rest(repo).pages({ path: `${pullPath}/reviews`, params }, Review, pages)
  const own = all.filter(({ state, user }) => state === "PENDING" && isBy(toAuthor(user), account))
  return yield* Effect.forEach(own, (review) => {
    const path = `${pullPath}/reviews/{review_id}`
    const id = { ...params, review_id: review.id }
    const comments = rest(repo).pages({ path: `${path}/comments`, params: id }, Note, pages)
    const request = { method: "DELETE", path, params: id, content: false } as const
    return Effect.map(comments, (found): PendingReview => ({
      texts: [review, ...found].map(({ body }) => body ?? "").filter((text) => text.trim() !== ""),
      discard: Effect.asVoid(rest(repo).write(request, Schema.Unknown))
    }))
  })
})

export const githubReviews = (host: Host): Pick<ForgeClient, "createReview" | "verdicts" | "reviewTexts"> => {
  const own = ownNotes(host)
  const post = (repo: Repo, number: number, review: NewReview) =>
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
    )
  return {
    createReview: Effect.fnUntraced(function* (repo, number, review) {
      // GitHub refuses a review with 422 while one is pending, and lines with 422, too.
      const created = yield* Effect.catchIf(
        post(repo, number, review),
        ({ reason }) => reason === "invalid",
        Effect.fnUntraced(function* (error: ForgeError) {
          const pending = yield* listPending(host, repo, number)
          // Not about a line: the pending review is hidden, or was submitted in between.
          if (pending.length === 0)
            return yield* isRefusedWith(error, "githubOnePending")
              ? new ForgeError({ ...error, reason: "conflict" })
              : error
          yield* review.pending.settle(pending)
          return yield* post(repo, number, review)
        })
      )
      const hostId = toCommentId("review", String(created.id))
      return { hostId, url: created.html_url ?? undefined, refused: [] }
    }),
    verdicts: githubVerdicts(host),
    reviewTexts: Effect.fnUntraced(function* (repo, number) {
      const account = yield* host.self
      const params = { ...ownerAndName(repo), pull_number: number }
      const all = yield* host.rest(repo).pages({ path: `${pullPath}/reviews`, params }, Review, pages)
      const reviews = all.filter(({ state, user }) => state !== "PENDING" && isBy(toAuthor(user), account))
      const bodies = reviews.map((review) => ({
        ...toOwnText(review),
        hostId: toCommentId("review", String(review.id))
      }))
      // This list has no comments of pending reviews.
      const comments = yield* own(repo, `${pullPath}/comments`, { pull_number: number })
      return [...bodies, ...comments]
    })
  }
}
