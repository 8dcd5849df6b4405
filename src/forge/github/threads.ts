/**
 * Inline comments of GitHub. Its REST API neither resolves a thread nor says who did: a comment whose problem is gone says so
 * itself, and a thumbs-down is how people dismiss one.
 */
import { Effect } from "effect"
import type { Repo } from "../../domain/Change.ts"
import type { ForgeClient, HostThread, HostThreads } from "../Forge.ts"
import type { Rest } from "../Http.ts"
import { ownerAndName, sameName } from "../Profile.ts"
import { Note, ReviewComment } from "./answers.ts"

const pages = { name: "per_page", value: 100 } as const
const repoPath = "/repos/{owner}/{repo}"

export const githubThreads = (rest: (repo: Repo) => Rest, self: ForgeClient["self"]): HostThreads => ({
  list: Effect.fnUntraced(function* (repo, number) {
    const me = yield* self
    const params = { ...ownerAndName(repo), pull_number: number }
    const all = yield* rest(repo).pages(
      { path: `${repoPath}/pulls/{pull_number}/comments`, params },
      ReviewComment,
      pages
    )
    const ours = (comment: typeof ReviewComment.Type) => sameName(comment.user?.login, me.username)
    const answered = new Set(all.filter((comment) => !ours(comment)).map((comment) => comment.in_reply_to_id))
    return all
      .filter((comment) => ours(comment) && !comment.in_reply_to_id)
      .map((comment): HostThread => ({
        hostId: String(comment.id),
        body: comment.body ?? "",
        path: comment.path ?? "",
        resolved: false,
        dismissed: (comment.reactions?.["-1"] ?? 0) > 0,
        replied: answered.has(comment.id)
      }))
  }),
  resolve: (repo, _number, hostId, body) =>
    Effect.map(
      rest(repo).write(
        {
          method: "PATCH",
          path: `${repoPath}/pulls/comments/{comment_id}`,
          params: { ...ownerAndName(repo), comment_id: hostId },
          body: { body },
          content: true
        },
        Note
      ),
      (note) => ({ hostId: String(note.id), url: note.html_url ?? undefined })
    )
})
