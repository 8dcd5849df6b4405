/**
 * Inline comments of GitHub. Its REST API can neither resolve a thread nor tell who did: when a problem is resolved, the text of
 * its comment is replaced and the thread is resolved over GraphQL. People dismiss a comment with a thumbs-down.
 */
import { Effect } from "effect"
import type { Repo } from "../../domain/Change.ts"
import type { ForgeClient, HostThread, HostThreads } from "../Forge.ts"
import type { Rest } from "../http/Http.ts"
import { isBy } from "../hosts/OwnAccount.ts"
import type { Account } from "../hosts/OwnAccount.ts"
import { ownerAndName, repoPath } from "../http/Profile.ts"
import { toCommentId } from "./CommentId.ts"
import { Note, Reaction, ReviewComment, toAuthor } from "./Responses.ts"
import type { ReviewThreadState } from "./ResolveThread.ts"
import { pages } from "./Facts.ts"

/** Maximum number of comments whose reactions are read; each costs a request. */
const maxRead = 50
const reactionPages = { ...pages, max: 100 } as const

/** Returns who gave each comment a thumbs-down. The list of comments contains only the count. */
const listDismissers = Effect.fnUntraced(function* (
  rest: Rest,
  repo: Repo,
  account: Account,
  comments: ReadonlyArray<typeof ReviewComment.Type>
) {
  const dismissers = new Map<number, ReadonlyArray<string>>()
  for (const { id } of comments.filter(({ reactions }) => (reactions?.["-1"] ?? 0) > 0).slice(-maxRead)) {
    const reactions = yield* rest.pages(
      {
        path: `${repoPath}/pulls/comments/{comment_id}/reactions`,
        params: { ...ownerAndName(repo), comment_id: id },
        query: { content: "-1" }
      },
      Reaction,
      reactionPages
    )
    dismissers.set(
      id,
      reactions.flatMap(({ content, user }) =>
        content === "-1" && user && !isBy(toAuthor(user), account) ? [user.login] : []
      )
    )
  }
  return dismissers
})

export const githubThreads = (
  rest: (repo: Repo) => Rest,
  self: ForgeClient["self"],
  { setResolved }: ReviewThreadState
): HostThreads => {
  const write = Effect.fnUntraced(function* (
    repo: Repo,
    number: number,
    hostId: string,
    body: string,
    isResolved: boolean
  ) {
    const note = yield* rest(repo).write(
      {
        method: "PATCH",
        path: `${repoPath}/pulls/comments/{comment_id}`,
        params: { ...ownerAndName(repo), comment_id: hostId },
        body: { body },
        content: true
      },
      Note
    )
    yield* setResolved(repo, number, hostId, isResolved)
    return { hostId: String(note.id), url: note.html_url ?? undefined }
  })
  return {
    mark: (repo, number, { hostId }, body, isResolved) => Effect.asVoid(write(repo, number, hostId, body, isResolved)),
    resolve: (repo, number, hostId, body) => write(repo, number, hostId, body, true),
    list: Effect.fnUntraced(function* (repo, number) {
      const account = yield* self
      const params = { ...ownerAndName(repo), pull_number: number }
      const all = yield* rest(repo).pages(
        { path: `${repoPath}/pulls/{pull_number}/comments`, params },
        ReviewComment,
        pages
      )
      const ours = (comment: typeof ReviewComment.Type) => isBy(toAuthor(comment.user), account)
      const repliedTo = new Set(all.filter((comment) => !ours(comment)).map((comment) => comment.in_reply_to_id))
      const own = all.filter((comment) => ours(comment) && !comment.in_reply_to_id)
      const dismissers = yield* listDismissers(rest(repo), repo, account, own)
      return own.map((comment): HostThread => ({
        hostId: String(comment.id),
        body: comment.body ?? "",
        path: comment.path ?? "",
        line: comment.original_line ?? comment.line ?? undefined,
        side: comment.side === "LEFT" ? "old" : "new",
        review: comment.pull_request_review_id
          ? toCommentId("review", String(comment.pull_request_review_id))
          : undefined,
        resolved: false,
        dismissedBy: dismissers.get(comment.id) ?? [],
        replied: repliedTo.has(comment.id)
      }))
    })
  }
}
