/**
 * Conversations at GitHub. Only comments at lines have threads: a reply belongs to the first comment of its thread. All other replies are
 * written below the pull request, issue or commit.
 */
import { Effect, Schema } from "effect"
import type { CommentPlace, Repo } from "../../domain/Change.ts"
import type { CommitComments, ConversationComment, ForgeClient, HostConversations } from "../Forge.ts"
import type { ForgeError } from "../ForgeError.ts"
import { isBy } from "../hosts/OwnAccount.ts"
import type { Account } from "../hosts/OwnAccount.ts"
import { maxComments, reader } from "../hosts/ReadChanges.ts"
import { maxConversation, readConversationComment, toConversation } from "../hosts/ReadConversation.ts"
import { ownerAndName, repoPath } from "../http/Profile.ts"
import { undefinedIfMissing } from "../http/UndefinedIfMissing.ts"
import type { Access } from "./Access.ts"
import { toCommentId, toHostNumber } from "./CommentId.ts"
import { pages } from "./Facts.ts"
import type { ReviewThreadState } from "./ResolveThread.ts"
import { Discussed, Repository, ReviewComment, SubmittedReview, toAuthor, toPerson, WrittenNote } from "./Responses.ts"

type Line = typeof ReviewComment.Type

interface Parts extends Pick<ForgeClient, "createComment" | "findComment"> {
  readonly commitComments: CommitComments
  readonly threads: ReviewThreadState
}

interface Written {
  readonly id: number
  readonly body?: string | null | undefined
  readonly user?: Line["user"]
  readonly created_at?: string | null | undefined
}

const toComment = (kind: Parameters<typeof toCommentId>[0], account: Account) => (item: Written) =>
  readConversationComment(
    {
      id: toCommentId(kind, String(item.id)),
      body: item.body,
      person: toPerson(item.user),
      author: toAuthor(item.user),
      isBot: item.user?.type === "Bot",
      createdAt: item.created_at
    },
    account
  )

/** Returns the first comment of the thread of a comment, as far as the comments name it. */
const findRoot = (lines: ReadonlyArray<Line>, { id, thread }: CommentPlace): Line | undefined => {
  const comment = lines.find((line) => String(line.id) === toHostNumber(id))
  const root = thread ?? String(comment?.in_reply_to_id || toHostNumber(id))
  return lines.find((line) => String(line.id) === root)
}

const readers = ({ rest, self }: Pick<Access, "rest" | "self">) => {
  /** Comments of one thread. The newest comments of the pull request are read first, until the first one of the thread. */
  const readThread = Effect.fnUntraced(function* (repo: Repo, number: number, place: CommentPlace) {
    const { items } = yield* rest(repo).list(
      {
        path: `${repoPath}/pulls/{pull_number}/comments`,
        params: { ...ownerAndName(repo), pull_number: number },
        query: { sort: "created", direction: "desc" }
      },
      reader(ReviewComment, (comment) => comment),
      { ...pages, max: maxComments },
      ({ items: lines }) => findRoot(lines, place) !== undefined
    )
    const root = findRoot(items, place)
    const rootId = root === undefined ? place.thread : String(root.id)
    return {
      root,
      lines: items.filter(({ id, in_reply_to_id: of }) => [String(id), String(of)].includes(rootId ?? ""))
    }
  })

  /** The newest comments below a pull request or issue: their list starts with the oldest ones, so its last pages are read. */
  const readNewest = Effect.fnUntraced(function* (repo: Repo, number: number, count: number) {
    const account = yield* self
    const last = Math.max(1, Math.ceil(count / pages.value))
    const lists = yield* Effect.forEach(last === 1 ? [1] : [last - 1, last], (page) =>
      rest(repo).get(
        {
          path: `${repoPath}/issues/{issue_number}/comments`,
          params: { ...ownerAndName(repo), issue_number: number },
          query: { [pages.name]: pages.value, page }
        },
        Schema.Array(Schema.Unknown)
      )
    )
    return lists.flat().flatMap((item) => reader(WrittenNote, toComment("issue", account))(item) ?? [])
  })

  /** One comment or text of a review; empty if it was deleted. */
  const readOne = Effect.fnUntraced(function* (
    repo: Repo,
    number: number,
    { id, kind }: CommentPlace
  ): Effect.fn.Return<ReadonlyArray<ConversationComment>, ForgeError> {
    const account = yield* self
    const params = { ...ownerAndName(repo), pull_number: number, comment_id: toHostNumber(id) }
    if (kind === "review") {
      const path = `${repoPath}/pulls/{pull_number}/reviews/{comment_id}`
      const review = yield* undefinedIfMissing(rest(repo).get({ path, params }, SubmittedReview))
      const comment = review && toComment("review", account)({ ...review, created_at: review.submitted_at })
      return comment === undefined ? [] : [comment]
    }
    const path = `${repoPath}/issues/comments/{comment_id}`
    const note = yield* undefinedIfMissing(rest(repo).get({ path, params }, WrittenNote))
    const comment = note && toComment("issue", account)(note)
    return comment === undefined ? [] : [comment]
  })

  return { readThread, readNewest, readOne }
}

const reactions = { eyes: "eyes", thumbs_up: "+1", confused: "confused" } as const

const reactionPaths: Readonly<Record<CommentPlace["kind"], string | undefined>> = {
  general: "issues/comments",
  line: "pulls/comments",
  // The REST API has no reactions to texts of reviews.
  review: undefined
}

const makeRead = (host: Pick<Access, "rest" | "self">, threads: ReviewThreadState): HostConversations["read"] => {
  const { rest, self } = host
  const { readNewest, readOne, readThread } = readers(host)
  return Effect.fnUntraced(function* (repo, { head, number = 0 }, place) {
    const account = yield* self
    if (place.on === "commit") {
      const notes = yield* rest(repo).pages(
        {
          path: `${repoPath}/commits/{commit_sha}/comments`,
          params: { ...ownerAndName(repo), commit_sha: head ?? "" }
        },
        WrittenNote,
        { ...pages, max: maxComments }
      )
      const comments = notes.flatMap((note) => toComment("commit", account)(note) ?? [])
      return toConversation(comments, place, { isLocked: false, isMore: false })
    }
    const state = yield* undefinedIfMissing(
      rest(repo).get(
        { path: `${repoPath}/issues/{issue_number}`, params: { ...ownerAndName(repo), issue_number: number } },
        Discussed
      )
    )
    if (state === undefined) return undefined
    const isLocked = state.locked === true
    if (place.kind === "line") {
      const { lines, root } = yield* readThread(repo, number, place)
      const comments = lines.flatMap((line) => toComment("line", account)(line) ?? [])
      return toConversation(comments, place, {
        isLocked,
        isMore: false,
        path: root?.path ?? undefined,
        line: root?.line ?? undefined,
        side: root?.side === "LEFT" ? "old" : "new",
        isResolved: root !== undefined && (yield* threads.isResolved(repo, number, String(root.id)))
      })
    }
    const count = state.comments ?? 0
    const newest = yield* readNewest(repo, number, count)
    const isIncluded = newest.some(({ id }) => id === place.id)
    const comments = isIncluded ? newest : [...newest, ...(yield* readOne(repo, number, place))]
    return toConversation(comments, place, { isLocked, isMore: count > maxConversation })
  })
}

export const githubConversations = (
  host: Pick<Access, "rest" | "self">,
  { commitComments, createComment, findComment, threads }: Parts
): HostConversations => {
  const { rest, self } = host
  const { readThread } = readers(host)
  return {
    read: makeRead(host, threads),
    reply: Effect.fnUntraced(function* (repo, { head, number = 0 }, place, body) {
      if (place.on === "commit") {
        const { hostId, url } = yield* commitComments.create(repo, head ?? "", body)
        return { hostId: toCommentId("commit", hostId), url }
      }
      if (place.kind !== "line") return yield* createComment(repo, number, body)
      const { html_url: url, id } = yield* rest(repo).write(
        {
          method: "POST",
          path: `${repoPath}/pulls/{pull_number}/comments/{comment_id}/replies`,
          params: {
            ...ownerAndName(repo),
            pull_number: number,
            comment_id: place.thread ?? toHostNumber(place.id)
          },
          body: { body },
          content: true
        },
        ReviewComment
      )
      return { hostId: toCommentId("line", String(id)), url: url ?? undefined }
    }),
    findReply: Effect.fnUntraced(function* (repo, { head, number = 0 }, place, marker) {
      if (place.on === "commit") return yield* commitComments.find(repo, head ?? "", marker)
      if (place.kind !== "line") return yield* findComment(repo, number, marker)
      const account = yield* self
      const { lines } = yield* readThread(repo, number, place)
      const reply = lines.find(({ body, user }) => isBy(toAuthor(user), account) && (body ?? "").includes(marker))
      return (
        reply && {
          hostId: toCommentId("line", String(reply.id)),
          url: reply.html_url ?? undefined,
          body: reply.body ?? ""
        }
      )
    }),
    react: (repo, _target, { id, kind, on }, reaction) => {
      const path = on === "commit" ? "comments" : reactionPaths[kind]
      if (path === undefined) return Effect.void
      return rest(repo)
        .write(
          {
            method: "POST",
            path: `${repoPath}/${path}/{comment_id}/reactions`,
            params: { ...ownerAndName(repo), comment_id: toHostNumber(id) },
            body: { content: reactions[reaction] },
            content: false
          },
          Schema.Unknown
        )
        .pipe(undefinedIfMissing, Effect.asVoid)
    },
    isPrivate: (repo) =>
      Effect.map(
        rest(repo).get({ path: repoPath, params: ownerAndName(repo) }, Repository),
        ({ private: isPrivate, visibility }) => (visibility === "internal" ? false : isPrivate)
      )
  }
}
