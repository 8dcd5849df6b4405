/** Discussions at lines of a GitLab merge request. GitLab can resolve them and reports who did. */
import { Effect, Schema } from "effect"
import type { Repo } from "../../domain/Change.ts"
import type { ForgeClient, HostThread, HostThreads } from "../Forge.ts"
import type { Rest } from "../http/Http.ts"
import { isBy } from "../hosts/OwnAccount.ts"
import { Thread } from "./Responses.ts"
import { pages } from "./Facts.ts"

/** GitLab does not name a deleted account. */
const unknown = "ghost"

const discussions = "/projects/{id}/merge_requests/{merge_request_iid}/discussions"

export const gitlabThreads = (
  rest: Rest,
  self: ForgeClient["self"],
  at: (repo: Repo, number: number) => Record<string, string | number>,
  update: ForgeClient["updateComment"]
): HostThreads => {
  const setResolved = (repo: Repo, number: number, hostId: string, resolved: boolean) =>
    rest.write(
      {
        method: "PUT",
        path: `${discussions}/{discussion_id}`,
        params: { ...at(repo, number), discussion_id: hostId },
        body: { resolved },
        content: true
      },
      Schema.Unknown
    )
  return {
    resolve: (repo, number, hostId) => Effect.as(setResolved(repo, number, hostId, true), { hostId, url: undefined }),
    mark: Effect.fnUntraced(function* (repo, number, { commentId, hostId }, body, isResolved) {
      if (commentId !== undefined) yield* update(repo, number, commentId, body)
      yield* setResolved(repo, number, hostId, isResolved)
    }),
    list: Effect.fnUntraced(function* (repo, number) {
      const me = yield* self
      const all = yield* rest.pages({ path: discussions, params: at(repo, number) }, Thread, pages)
      return all.flatMap(({ id, notes: [first, ...replies] }): ReadonlyArray<HostThread> => {
        if (!first?.position || !isBy(first.author, me)) return []
        const byUs = first.resolved_by ? isBy(first.resolved_by, me) : false
        return [
          {
            hostId: id,
            commentId: first.id === undefined ? undefined : String(first.id),
            body: first.body,
            path: first.position.new_path ?? first.position.old_path ?? "",
            line: first.position.new_line ?? first.position.old_line ?? undefined,
            side: first.position.new_line ? "new" : "old",
            resolved: first.resolved === true && byUs,
            dismissedBy: first.resolved === true && !byUs ? [first.resolved_by?.username ?? unknown] : [],
            replied: replies.some((note) => note.system !== true && !isBy(note.author, me))
          }
        ]
      })
    })
  }
}
