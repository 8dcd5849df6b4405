/**
 * Conversations at Gitea and Forgejo. A thread is what reviews of the own account have at one line, with the replies of people, which
 * belong to these reviews. Neither deliveries nor lists say whether a comment is at a line: a read of the comment does. Its place stays the same, so
 * that the reply to it does not read it again.
 */
import { Effect, Schema } from "effect"
import type { CommentPlace, Repo } from "../../domain/Change.ts"
import type { ConversationComment, ForgeClient, HostConversations } from "../Forge.ts"
import type { ForgeError } from "../ForgeError.ts"
import { isBy } from "../hosts/OwnAccount.ts"
import type { Account } from "../hosts/OwnAccount.ts"
import { reader } from "../hosts/ReadChanges.ts"
import { maxConversation, readConversationComment, toConversation } from "../hosts/ReadConversation.ts"
import { isRefused } from "../http/HostWords.ts"
import type { Rest } from "../http/Http.ts"
import { ownerAndName, repoPath } from "../http/Profile.ts"
import { undefinedIfMissing } from "../http/UndefinedIfMissing.ts"
import { refusals } from "./Facts.ts"
import { searchComments } from "./NewestComment.ts"
import {
  Comment,
  Discussed,
  Repository,
  Review,
  ReviewComment,
  toAuthor,
  toPerson,
  WrittenComment
} from "./Responses.ts"
import { reviewsPath } from "./ReviewList.ts"
import type { GiteaReviewList } from "./ReviewList.ts"
import type { GiteaDialect } from "./Reviews.ts"
import { toLocation } from "./Threads.ts"

const commentPath = `${repoPath}/issues/comments/{id}`

/** Most reviews whose comments are read: those of the own account, and those of others if it has no such comment. */
const maxOwnReviews = 50
const maxOtherReviews = 20

type Line = typeof ReviewComment.Type & { readonly review: number }

interface Written {
  readonly id: number
  readonly body?: string | null | undefined
  readonly user?: Line["user"]
  readonly created_at?: string | null | undefined
}

const toComment =
  (account: Account, prefix = "") =>
  (item: Written): ConversationComment | undefined =>
    readConversationComment(
      {
        id: `${prefix}${item.id}`,
        body: item.body,
        person: toPerson(item.user),
        author: toAuthor(item.user),
        // The only accounts that the API marks: those of the host itself have negative ids.
        isBot: (item.user?.id ?? 0) < 0,
        createdAt: item.created_at
      },
      account
    )

interface Parts extends Pick<ForgeClient, "createComment" | "findComment"> {
  readonly reviews: GiteaReviewList
}

/** Number of places of comments that are remembered. */
const maxPlaces = 200

/** Place of a comment: below the change or issue, or in a thread whose first comment is `root`. */
type Located = { readonly root: undefined } | { readonly root: Line; readonly lines: ReadonlyArray<Line> }

/** Orders the reviews of one comment, which may be replies of the account, after those with more, which people may have replied to. */
const byReplies = <R extends { readonly comments_count?: number | null | undefined }>(reviews: ReadonlyArray<R>) =>
  reviews.toSorted((a, b) => Number(b.comments_count !== 1) - Number(a.comments_count !== 1))

const makeLocate = (rest: Rest, self: ForgeClient["self"], reviews: GiteaReviewList) => {
  const findLine = Effect.fnUntraced(function* (repo: Repo, number: number, id: string) {
    const account = yield* self
    const published = (yield* reviews.published(repo, number)).toReversed()
    const isOurs = (review: (typeof published)[number]) => isBy(toAuthor(review.user), account)
    const read = (review: (typeof published)[number]) =>
      Effect.map(reviews.comments(repo, number, review), (lines) =>
        lines.map((line) => ({ ...line, review: review.id }))
      )
    const ours = byReplies(published.filter(isOurs)).slice(0, maxOwnReviews)
    const own = (yield* Effect.forEach(ours, read)).flat()
    const lines = [...own]
    for (const review of published.filter((one) => !isOurs(one)).slice(0, maxOtherReviews)) {
      if (lines.some((line) => String(line.id) === id)) break
      lines.push(...(yield* read(review)))
    }
    const line = lines.find((one) => String(one.id) === id)
    if (line === undefined) return undefined
    const thread = lines.filter((one) => toLocation(one) === toLocation(line)).toSorted((a, b) => a.id - b.id)
    const [root = line] = thread
    return { root, lines: thread }
  })

  const places = new Map<string, Located>()
  const keyOf = ({ fullName }: Repo, { id }: CommentPlace) => `${fullName} ${id}`

  const find = Effect.fnUntraced(function* (
    repo: Repo,
    number: number,
    { id, kind, on }: CommentPlace
  ): Effect.fn.Return<Located | undefined, ForgeError> {
    if (kind === "review") return { root: undefined }
    if (kind === "line") return yield* findLine(repo, number, id)
    const comment = yield* undefinedIfMissing(
      rest.get({ path: commentPath, params: { ...ownerAndName(repo), id } }, Schema.NullOr(Comment))
    )
    if (comment === undefined) return undefined
    return comment === null && on === "pull_request" ? yield* findLine(repo, number, id) : { root: undefined }
  })

  /** Returns undefined for a comment that was deleted, or that is at a line and cannot be found there. */
  const read = Effect.fnUntraced(function* (repo: Repo, number: number, place: CommentPlace) {
    const located = yield* find(repo, number, place)
    if (located !== undefined) {
      // The comments of a thread are read again.
      places.set(keyOf(repo, place), located.root === undefined ? located : { root: located.root, lines: [] })
      const [oldest] = places.keys()
      if (places.size > maxPlaces && oldest !== undefined) places.delete(oldest)
    }
    return located
  })
  return {
    read,
    /** Reads the comments of the thread again, and not which thread it is. */
    readAgain: (repo: Repo, number: number, place: CommentPlace): Effect.Effect<Located | undefined, ForgeError> => {
      const known = places.get(keyOf(repo, place))
      if (known === undefined) return read(repo, number, place)
      return known.root === undefined ? Effect.succeed(known) : read(repo, number, { ...place, kind: "line" })
    },
    /** Returns the place that was read last, without the comments of its thread. */
    last: (repo: Repo, number: number, place: CommentPlace): Effect.Effect<Located | undefined, ForgeError> => {
      const known = places.get(keyOf(repo, place))
      return known === undefined ? read(repo, number, place) : Effect.succeed(known)
    }
  }
}

const reactions = { eyes: "eyes", thumbs_up: "+1", confused: "confused" } as const

const toReviewNumber = (id: string): string => id.replace(/^review-/, "")

const makeRead = (
  rest: Rest,
  self: ForgeClient["self"],
  locate: ReturnType<typeof makeLocate>
): HostConversations["read"] => {
  const readNewest = Effect.fnUntraced(function* (repo: Repo, number: number, id: string) {
    const account = yield* self
    const comments: Array<ConversationComment> = []
    yield* searchComments(rest, { ...ownerAndName(repo), index: number }, Schema.Array(Schema.Unknown), (items) => {
      comments.push(...items.flatMap((item) => reader(WrittenComment, toComment(account))(item) ?? []))
      return comments.length >= maxConversation && comments.some((comment) => comment.id === id) ? true : undefined
    })
    return comments
  })
  const readReview = Effect.fnUntraced(function* (repo: Repo, number: number, id: string) {
    const params = { ...ownerAndName(repo), index: number, id: toReviewNumber(id) }
    const review = yield* undefinedIfMissing(rest.get({ path: `${reviewsPath}/{id}`, params }, Review))
    return review && toComment(yield* self, "review-")({ ...review, created_at: review.submitted_at })
  })
  return Effect.fnUntraced(function* (repo, { number = 0 }, place) {
    const account = yield* self
    const located = yield* locate.read(repo, number, place)
    if (located === undefined) return undefined
    const { is_locked: locked } = yield* rest.get(
      { path: `${repoPath}/issues/{index}`, params: { ...ownerAndName(repo), index: number } },
      Discussed
    )
    const isLocked = locked === true
    if (located.root !== undefined) {
      const { lines, root } = located
      const comments = lines.flatMap((line) => toComment(account)(line) ?? [])
      return toConversation(comments, place, {
        isLocked,
        isMore: false,
        path: root.path ?? undefined,
        line: root.position || root.original_position || undefined,
        side: root.position ? "new" : "old",
        isResolved: lines.some(({ resolver }) => resolver !== null && resolver !== undefined)
      })
    }
    const newest = yield* readNewest(repo, number, place.id)
    const review = place.kind === "review" ? yield* readReview(repo, number, place.id) : undefined
    return toConversation(review === undefined ? newest : [...newest, review], place, { isLocked, isMore: false })
  })
}

/** Writes at the line of a thread. Returns undefined where that is impossible now, so that the reply is written below the change. */
const makeReplyAt = (rest: Rest, { extendsReviews }: GiteaDialect, reviews: GiteaReviewList) =>
  Effect.fnUntraced(function* (repo: Repo, number: number, head: string | undefined, root: Line, body: string) {
    const params = { ...ownerAndName(repo), index: number }
    const line = {
      path: root.path ?? "",
      body,
      new_position: root.position ?? 0,
      old_position: root.position ? 0 : (root.original_position ?? 0)
    }
    if (extendsReviews) {
      const path = `${reviewsPath}/{id}/comments`
      const call = { method: "POST", path, params: { ...params, id: root.review }, body: line, content: true } as const
      const added = yield* Effect.catchIf(
        rest.write(call, ReviewComment),
        isRefused(refusals.lineRefused),
        () => Effect.undefined
      )
      if (added !== undefined) return { hostId: String(added.id), url: added.html_url ?? undefined }
    }
    // The server would publish with the reply what is pending under the account.
    if ((yield* reviews.pending(repo, number)).length > 0) return undefined
    const review = { event: "COMMENT", commit_id: head, body: "", comments: [line] }
    const created = yield* Effect.catchIf(
      rest.write({ method: "POST", path: reviewsPath, params, body: review, content: true }, Review),
      isRefused(refusals.lineRefused),
      () => Effect.undefined
    )
    if (created === undefined) return undefined
    yield* reviews.submitted(repo, number)
    return { hostId: `review-${created.id}`, url: created.html_url ?? undefined }
  })

export const giteaConversations = (
  rest: Rest,
  self: ForgeClient["self"],
  dialect: GiteaDialect,
  { createComment, findComment, reviews }: Parts
): HostConversations => {
  const locate = makeLocate(rest, self, reviews)
  const replyAt = makeReplyAt(rest, dialect, reviews)
  return {
    read: makeRead(rest, self, locate),
    reply: Effect.fnUntraced(function* (repo, { head, number = 0 }, place, body) {
      const located = yield* locate.last(repo, number, place)
      const root = located?.root
      if (root === undefined) return yield* createComment(repo, number, body)
      const written = yield* replyAt(repo, number, head, root, body)
      if (written !== undefined) return written
      return yield* createComment(repo, number, root.html_url ? `${root.html_url}\n\n${body}` : body)
    }),
    findReply: Effect.fnUntraced(function* (repo, { number = 0 }, place, marker) {
      const below = yield* findComment(repo, number, marker)
      if (below !== undefined || place.on !== "pull_request") return below
      const account = yield* self
      const located = yield* locate.readAgain(repo, number, place)
      const lines = located?.root === undefined ? [] : located.lines
      const reply = lines.find(({ body, user }) => isBy(toAuthor(user), account) && (body ?? "").includes(marker))
      return reply && { hostId: String(reply.id), url: reply.html_url ?? undefined, body: reply.body ?? "" }
    }),
    react: Effect.fnUntraced(function* (repo, { number = 0 }, { id, kind }, reaction) {
      const owner = ownerAndName(repo)
      const review =
        kind === "review"
          ? yield* undefinedIfMissing(
              rest.get(
                { path: `${reviewsPath}/{id}`, params: { ...owner, index: number, id: toReviewNumber(id) } },
                Review
              )
            )
          : undefined
      // The text of a review is a comment, too, whose id only its page names.
      const comment = kind === "review" ? /#issuecomment-(\d+)$/.exec(review?.html_url ?? "")?.[1] : id
      if (comment === undefined) return
      yield* undefinedIfMissing(
        rest.write(
          {
            method: "POST",
            path: `${commentPath}/reactions`,
            params: { ...owner, id: comment },
            body: { content: reactions[reaction] },
            content: false
          },
          Schema.Unknown
        )
      )
    }),
    isPrivate: (repo) =>
      Effect.map(
        rest.get({ path: repoPath, params: ownerAndName(repo) }, Repository),
        ({ internal, private: isPrivate }) => (internal === true ? false : (isPrivate ?? undefined))
      )
  }
}
