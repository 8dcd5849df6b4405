/**
 * Inline comments of GitHub. Its REST API neither resolves a thread nor says who did: a comment whose problem is gone says so
 * itself, then its thread is resolved by GraphQL; a thumbs-down is how people dismiss one.
 */
import { Effect } from "effect"
import type { Repo } from "../../domain/Change.ts"
import type { ForgeClient, HostThread, HostThreads } from "../Forge.ts"
import type { Rest } from "../Http.ts"
import { ownerAndName, sameName } from "../Profile.ts"
import { Note, Reaction, ReviewComment } from "./answers.ts"
import type { ResolveThread } from "./resolveThread.ts"

const pages = { name: "per_page", value: 100 } as const
const repoPath = "/repos/{owner}/{repo}"

/** Comments whose reactions are read; each costs a request. */
const maxRead = 50
const mostReactions = { ...pages, most: 100 } as const

/** Who gave each comment a thumbs-down. The list of comments says how many, not who. */
const dismissersOf = Effect.fnUntraced(function* (
  rest: Rest,
  repo: Repo,
  own: string,
  comments: ReadonlyArray<typeof ReviewComment.Type>
) {
  const found = new Map<number, ReadonlyArray<string>>()
  for (const { id } of comments.filter(({ reactions }) => (reactions?.["-1"] ?? 0) > 0).slice(-maxRead)) {
    const reactions = yield* rest.pages(
      {
        path: `${repoPath}/pulls/comments/{comment_id}/reactions`,
        params: { ...ownerAndName(repo), comment_id: id },
        query: { content: "-1" }
      },
      Reaction,
      mostReactions
    )
    const people = reactions.flatMap(({ content, user }) => (content === "-1" && user ? [user.login] : []))
    found.set(
      id,
      people.filter((person) => !sameName(person, own))
    )
  }
  return found
})

export const githubThreads = (
  rest: (repo: Repo) => Rest,
  self: ForgeClient["self"],
  resolveThread: ResolveThread
): HostThreads => ({
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
    const own = all.filter((comment) => ours(comment) && !comment.in_reply_to_id)
    const dismissers = yield* dismissersOf(rest(repo), repo, me.username, own)
    return own.map((comment): HostThread => ({
      hostId: String(comment.id),
      body: comment.body ?? "",
      path: comment.path ?? "",
      resolved: false,
      dismissedBy: dismissers.get(comment.id) ?? [],
      replied: answered.has(comment.id)
    }))
  }),
  resolve: Effect.fnUntraced(function* (repo, number, hostId, body) {
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
    yield* resolveThread(repo, number, hostId)
    return { hostId: String(note.id), url: note.html_url ?? undefined }
  })
})
