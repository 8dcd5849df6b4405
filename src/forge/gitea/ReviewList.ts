/**
 * Reviews of a pull request at Gitea and Forgejo. A list contains the pending reviews that the account may see: its own, for an
 * administrator those of everybody. They are not published, so they are listed apart.
 */
import { Clock, Effect, Schema } from "effect"
import type { Repo } from "../../domain/Change.ts"
import type { ForgeClient, PendingReview } from "../Forge.ts"
import type { ForgeError } from "../ForgeError.ts"
import type { Rest } from "../http/Http.ts"
import { isBy } from "../hosts/OwnAccount.ts"
import { ownerAndName } from "../http/Profile.ts"
import { Review, ReviewComment, toAuthor } from "./Responses.ts"
import { pages } from "./Facts.ts"

export const reviewsPath = "/repos/{owner}/{repo}/pulls/{index}/reviews"

type ListedReview = typeof Review.Type
type Comments = Effect.Effect<ReadonlyArray<typeof ReviewComment.Type>, ForgeError>

/** Maximum age of a list by which the next review is written. */
const maxAgeMillis = 10_000
/** Maximum number of pull requests whose newest list is stored. */
const maxLists = 64

export interface GiteaReviewList {
  /** Published reviews. */
  readonly published: (repo: Repo, number: number) => Effect.Effect<ReadonlyArray<ListedReview>, ForgeError>
  readonly comments: (repo: Repo, number: number, review: ListedReview) => Comments
  /**
   * Pending reviews of the own account. Costs no request right after `published` or `submitted`, because the result of these is used,
   * once.
   */
  readonly pending: (repo: Repo, number: number) => Effect.Effect<ReadonlyArray<PendingReview>, ForgeError>
  /** Notes that a review was submitted, and with it everything that was pending. */
  readonly submitted: (repo: Repo, number: number) => Effect.Effect<void>
}

export const giteaReviewList = (rest: Rest, self: ForgeClient["self"]): GiteaReviewList => {
  const latest = new Map<string, { readonly at: number; readonly pending: ReadonlyArray<ListedReview> }>()
  const keyOf = (repo: Repo, number: number) => JSON.stringify([repo.fullName.toLowerCase(), number])

  const list = Effect.fnUntraced(function* (repo: Repo, number: number) {
    const account = yield* self
    const at = yield* Clock.currentTimeMillis
    const all = yield* rest.pages(
      { path: reviewsPath, params: { ...ownerAndName(repo), index: number } },
      Review,
      pages
    )
    const pending = all.filter(({ state, user }) => state === "PENDING" && isBy(toAuthor(user), account))
    return { at, pending, published: all.filter(({ state }) => state !== "PENDING") }
  })

  const note = (repo: Repo, number: number, at: number, pending: ReadonlyArray<ListedReview>): void => {
    for (const [key, entry] of latest) if (at - entry.at > maxAgeMillis || latest.size >= maxLists) latest.delete(key)
    latest.set(keyOf(repo, number), { at, pending })
  }

  const comments: GiteaReviewList["comments"] = (repo, number, review) =>
    review.comments_count === 0
      ? Effect.succeed([])
      : Effect.map(
          rest.get(
            { path: `${reviewsPath}/{id}/comments`, params: { ...ownerAndName(repo), index: number, id: review.id } },
            Schema.NullOr(Schema.Array(ReviewComment))
          ),
          (found) => found ?? []
        )

  const discard = (repo: Repo, number: number, { id }: ListedReview): PendingReview["discard"] =>
    Effect.asVoid(
      rest.write(
        {
          method: "DELETE",
          path: `${reviewsPath}/{id}`,
          params: { ...ownerAndName(repo), index: number, id },
          content: false
        },
        Schema.Unknown
      )
    )

  return {
    comments,
    published: Effect.fnUntraced(function* (repo, number) {
      const { at, pending, published } = yield* list(repo, number)
      note(repo, number, at, pending)
      return published
    }),
    submitted: (repo, number) => Effect.map(Clock.currentTimeMillis, (now) => note(repo, number, now, [])),
    pending: Effect.fnUntraced(function* (repo, number) {
      const key = keyOf(repo, number)
      const entry = latest.get(key)
      latest.delete(key)
      const now = yield* Clock.currentTimeMillis
      const own = entry !== undefined && now - entry.at <= maxAgeMillis ? entry : yield* list(repo, number)
      return yield* Effect.forEach(own.pending, (review) =>
        Effect.map(comments(repo, number, review), (found): PendingReview => ({
          texts: [review.body ?? "", ...found.map(({ body }) => body ?? "")].filter((text) => text.trim() !== ""),
          discard: discard(repo, number, review)
        }))
      )
    })
  }
}
