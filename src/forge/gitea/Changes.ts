/** Reads what changed at Gitea and Forgejo. */
import { Effect, Schema } from "effect"
import type { ForgeClient } from "../Forge.ts"
import type { FoundComment, HostChanges } from "../hosts/HostChanges.ts"
import { isBy } from "../hosts/OwnAccount.ts"
import {
  listTips,
  maxStatuses,
  readCommit,
  reader,
  readFound,
  readOwnStatus,
  readTip,
  toSecond,
  writtenSince
} from "../hosts/ReadChanges.ts"
import type { Rest } from "../http/Http.ts"
import { ownerAndName } from "../http/Profile.ts"
import { limits } from "../webhook/Payload.ts"
import { giteaIssueList, giteaPullList } from "./ChangedPulls.ts"
import { stateNames, statusContext } from "./Comments.ts"
import { pages } from "./Facts.ts"
import { searchComments } from "./NewestComment.ts"
import { ListedStatus, PushedCommit, Tip, toAuthor, toPerson, toUsername, WrittenComment } from "./Responses.ts"

const repoPath = "/repos/{owner}/{repo}"
const withoutDetails = { stat: "false", verification: "false", files: "false" }

const readWritten = reader(WrittenComment, ({ body, created_at: createdAt, id, user }) =>
  // The list has no comments at lines, and so no replies.
  readFound({ id: String(id), on: "pull_request", kind: "general" }, false, {
    body,
    author: toPerson(user),
    createdAt
  })
)

const toTip = reader(Tip, ({ commit, name }) => readTip(name, commit?.id))

export const giteaChanges = (rest: Rest, self: ForgeClient["self"]): HostChanges => ({
  deliveries: undefined,
  pulls: giteaPullList(rest),
  issues: giteaIssueList(rest),
  comments: Effect.fnUntraced(function* (repo, number, since) {
    const found: Array<FoundComment> = []
    const from = toSecond(since) / 1000
    yield* searchComments(
      rest,
      { ...ownerAndName(repo), index: number },
      Schema.Array(Schema.Unknown),
      (comments) => void found.push(...comments.flatMap((comment) => readWritten(comment) ?? [])),
      from
    )
    return writtenSince(found, since)
  }),
  tips: (repo, branches) =>
    listTips(rest, { path: `${repoPath}/branches`, params: ownerAndName(repo) }, pages, toTip, branches),
  pushed: (repo, before, after) =>
    Effect.map(
      rest.list(
        {
          path: `${repoPath}/commits`,
          params: ownerAndName(repo),
          query: { sha: after, not: before, ...withoutDetails }
        },
        reader(PushedCommit, ({ author, commit, sha }) =>
          readCommit(sha, commit?.message, toUsername(author), commit?.author?.name, commit?.author?.email)
        ),
        { ...pages, max: limits.commits }
      ),
      ({ items, more }) => ({ commits: items.length + more, listed: items })
    ),
  ownStatus: Effect.fnUntraced(function* (repo, head) {
    const account = yield* self
    const { items } = yield* rest.list(
      {
        path: `${repoPath}/statuses/{sha}`,
        params: { ...ownerAndName(repo), sha: head },
        query: { sort: "highestindex" }
      },
      reader(ListedStatus, ({ context, created_at, creator, status }) => {
        const isOwn = context === statusContext && isBy(toAuthor(creator), account)
        return readOwnStatus(stateNames, { isOwn, name: status, createdAt: created_at })
      }),
      { ...pages, max: maxStatuses },
      ({ items: own }) => own.length > 0
    )
    return items[0]
  })
})
