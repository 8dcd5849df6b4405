/** Reads what changed at GitHub. */
import { Effect } from "effect"
import type { Repo } from "../../domain/Change.ts"
import type { HostChanges } from "../hosts/HostChanges.ts"
import { isBy } from "../hosts/OwnAccount.ts"
import {
  listTips,
  maxComments,
  maxStatuses,
  readCommit,
  reader,
  readFound,
  readOwnStatus,
  readTip,
  toIsoSecond,
  writtenSince
} from "../hosts/ReadChanges.ts"
import { ownerAndName } from "../http/Profile.ts"
import { limits } from "../webhook/Payload.ts"
import type { Access } from "./Access.ts"
import { githubPullList } from "./ChangedPulls.ts"
import { statusContext } from "./CheckIdentity.ts"
import { readChecks } from "./CheckRuns.ts"
import { stateNames } from "./Comments.ts"
import { toCommentId } from "./CommentId.ts"
import { githubDeliveries } from "./Deliveries.ts"
import { pages } from "./Facts.ts"
import { Comparison, ListedStatus, PushedCommit, Tip, toAuthor, toPerson, WrittenReply } from "./Responses.ts"

const repoPath = "/repos/{owner}/{repo}"

const toTip = reader(Tip, ({ commit, name }) => readTip(name, commit.sha))

const readPushed = reader(PushedCommit, ({ author, commit, sha }) =>
  readCommit(sha, commit.message, author?.login, commit.author?.name, commit.author?.email)
)

const kinds = { issue: "general", line: "line" } as const

export const githubChanges = (host: Pick<Access, "app" | "mayCheck" | "rest" | "search" | "self">): HostChanges => {
  const { rest, self } = host
  const notes = (repo: Repo, number: number, since: number, kind: "issue" | "line") => {
    const path = `${repoPath}/${kind === "issue" ? "issues" : "pulls"}/{number}/comments`
    return Effect.map(
      rest(repo).list(
        { path, params: { ...ownerAndName(repo), number }, query: { since: toIsoSecond(since) } },
        reader(WrittenReply, ({ body, created_at: createdAt, id, in_reply_to_id: thread, user }) => {
          const place = { id: toCommentId(kind, String(id)), on: "pull_request", kind: kinds[kind] } as const
          return readFound(thread ? { ...place, thread: String(thread) } : place, Boolean(thread), {
            body,
            author: toPerson(user),
            createdAt
          })
        }),
        { ...pages, max: maxComments }
      ),
      ({ items }) => items
    )
  }
  return {
    deliveries: host.app && githubDeliveries(host.app),
    pulls: githubPullList(host),
    issues: undefined,
    comments: (repo, number, since) =>
      Effect.map(
        Effect.forEach(["issue", "line"] as const, (kind) => notes(repo, number, since, kind)),
        (found) => writtenSince(found.flat(), since)
      ),
    tips: (repo, branches) =>
      listTips(rest(repo), { path: `${repoPath}/branches`, params: ownerAndName(repo) }, pages, toTip, branches),
    pushed: (repo, before, after) =>
      Effect.map(
        rest(repo).get(
          {
            path: `${repoPath}/compare/{before}...{after}`,
            params: { ...ownerAndName(repo), before, after },
            query: { per_page: limits.commits }
          },
          Comparison
        ),
        ({ commits, total_commits: total }) => ({
          commits: total,
          listed: commits.slice(0, limits.commits).flatMap((commit) => readPushed(commit) ?? [])
        })
      ),
    ownStatus: Effect.fnUntraced(function* (repo, head) {
      if (yield* host.mayCheck?.(repo) ?? Effect.succeed(false)) return (yield* readChecks(host, repo, head))[0]?.seen
      const account = yield* self
      const { items } = yield* rest(repo).list(
        { path: `${repoPath}/commits/{ref}/statuses`, params: { ...ownerAndName(repo), ref: head } },
        reader(ListedStatus, ({ context, created_at, creator, state: name }) => {
          const isOwn = context === statusContext && isBy(toAuthor(creator), account)
          return readOwnStatus(stateNames, { isOwn, name, createdAt: created_at })
        }),
        { ...pages, max: maxStatuses },
        ({ items: own }) => own.length > 0
      )
      return items[0]
    })
  }
}
