/**
 * Inline comments of Gitea and Forgejo. A reply is a comment of another review at the same location. The REST API cannot resolve
 * a thread, so the text of a comment is replaced when its problem is resolved.
 */
import { Effect, Schema } from "effect"
import type { ForgeClient, HostThread, HostThreads } from "../Forge.ts"
import type { Rest } from "../Http.ts"
import { ownerAndName, sameName } from "../Profile.ts"
import { Review, ReviewComment, toUsername } from "./Responses.ts"

const pages = { name: "limit", value: 50 } as const
const reviewsPath = "/repos/{owner}/{repo}/pulls/{index}/reviews"

type Comment = typeof ReviewComment.Type

const toLocation = ({ path, position, original_position }: Comment): string =>
  JSON.stringify([path ?? "", position ?? 0, original_position ?? 0])

export const giteaThreads = (
  rest: Rest,
  self: ForgeClient["self"],
  update: ForgeClient["updateComment"]
): HostThreads => ({
  list: Effect.fnUntraced(function* (repo, number) {
    const account = yield* self
    const params = { ...ownerAndName(repo), index: number }
    const reviews = yield* rest.pages({ path: reviewsPath, params }, Review, pages)
    const all: Array<Comment> = []
    for (const review of reviews) {
      if (review.comments_count === 0) continue
      const comments = yield* rest.get(
        { path: `${reviewsPath}/{id}/comments`, params: { ...params, id: review.id } },
        Schema.NullOr(Schema.Array(ReviewComment))
      )
      all.push(...(comments ?? []))
    }
    const ours = (comment: Comment) => sameName(toUsername(comment.user), account.username)
    const repliedTo = new Set(all.filter((comment) => !ours(comment)).map(toLocation))
    return all.filter(ours).map((comment): HostThread => {
      const resolver = toUsername(comment.resolver)
      return {
        hostId: String(comment.id),
        body: comment.body ?? "",
        path: comment.path ?? "",
        resolved: sameName(resolver, account.username),
        dismissedBy: resolver === undefined || sameName(resolver, account.username) ? [] : [resolver],
        replied: repliedTo.has(toLocation(comment))
      }
    })
  }),
  resolve: update,
  dismiss: (repo, number, { hostId }, body) => Effect.asVoid(update(repo, number, hostId, body))
})
