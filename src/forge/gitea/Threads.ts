/**
 * Inline comments of Gitea and Forgejo. A reply is a comment of the same review at the same location. The REST API cannot resolve
 * a thread, so the text of a comment is replaced when its problem is resolved.
 */
import { Effect } from "effect"
import type { ForgeClient, HostThread, HostThreads } from "../Forge.ts"
import { isBy } from "../hosts/OwnAccount.ts"
import { toAuthor, toUsername } from "./Responses.ts"
import type { ReviewComment } from "./Responses.ts"
import type { GiteaReviewList } from "./ReviewList.ts"

type Comment = typeof ReviewComment.Type

/** Returns what comments of one thread have in common. */
export const toLocation = ({ path, position, original_position }: Comment): string =>
  JSON.stringify([path ?? "", position ?? 0, original_position ?? 0])

export const giteaThreads = (
  reviews: GiteaReviewList,
  self: ForgeClient["self"],
  update: ForgeClient["updateComment"]
): HostThreads => ({
  list: Effect.fnUntraced(function* (repo, number) {
    const account = yield* self
    const all: Array<Comment & { readonly review: number }> = []
    for (const review of yield* reviews.published(repo, number)) {
      if (!isBy(toAuthor(review.user), account)) continue
      const comments = yield* reviews.comments(repo, number, review)
      all.push(...comments.map((comment) => ({ ...comment, review: review.id })))
    }
    const ours = (comment: Comment) => isBy(toAuthor(comment.user), account)
    const repliedTo = new Set(all.filter((comment) => !ours(comment)).map(toLocation))
    return all.filter(ours).map((comment): HostThread => {
      const resolver = toUsername(comment.resolver)
      const byUs = isBy(toAuthor(comment.resolver), account)
      return {
        hostId: String(comment.id),
        body: comment.body ?? "",
        path: comment.path ?? "",
        line: comment.position || comment.original_position || undefined,
        side: comment.position ? "new" : "old",
        review: String(comment.review),
        resolved: byUs,
        dismissedBy: resolver === undefined || byUs ? [] : [resolver],
        replied: repliedTo.has(toLocation(comment))
      }
    })
  }),
  resolve: update,
  mark: (repo, number, { hostId }, body) => Effect.asVoid(update(repo, number, hostId, body))
})
