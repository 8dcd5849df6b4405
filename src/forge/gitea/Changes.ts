/** Reads what changed at Gitea and Forgejo. */
import { Clock, Effect, Schema } from "effect"
import type { ForgeClient } from "../Forge.ts"
import type { ChangedPull, ChangedPulls, FoundComment, HostChanges } from "../hosts/HostChanges.ts"
import { isBy } from "../hosts/OwnAccount.ts"
import {
  listPulls,
  listTips,
  maxStatuses,
  newestPulls,
  readChangedPull,
  readCommit,
  reader,
  readFound,
  readOwnStatus,
  readTime,
  readTip,
  toIsoSecond,
  toSecond,
  writtenSince
} from "../hosts/ReadChanges.ts"
import type { Call, Rest } from "../http/Http.ts"
import { ownerAndName, repoPath } from "../http/Profile.ts"
import { limits } from "../webhook/Payload.ts"
import { stateNames, statusContext } from "./Comments.ts"
import { pages, refusals } from "./Facts.ts"
import { searchComments } from "./NewestComment.ts"
import {
  ChangedIssue,
  ListedIssue,
  ListedStatus,
  PushedCommit,
  Tip,
  toAuthor,
  toPerson,
  toUsername,
  WrittenComment
} from "./Responses.ts"
import type { Repo } from "../../domain/Change.ts"
import { truncate } from "../../domain/Text.ts"
import type { ForgeError } from "../ForgeError.ts"
import { isRefused } from "../http/HostWords.ts"

/**
 * Pull requests and issues of Gitea and Forgejo by the time of their update. The hosts filter by that time and list by the time of creation: where
 * more have changed than are wanted, the time since which enough of them have changed is searched for.
 */

/** The host's clock may be ahead by as much. */
const maxClockSkew = 24 * 3_600_000

/** The first time that is tried is as old; the next ones are each eight times as old, until enough have changed. */
const firstAge = 3_600_000

/** Requests that halve the time between the beginning and now until a second is left. */
const maxSearches = 40

const readChanged = reader(ChangedIssue, ({ number, repository, updated_at }) =>
  readChangedPull({
    fullName: repository.full_name,
    hostId: repository.id,
    number,
    updatedAt: updated_at
  })
)

const isSince = (since: number | undefined) => (pull: ChangedPull) =>
  since === undefined || pull.updatedAt >= toSecond(since)

const readNewest = Effect.fnUntraced(function* (
  rest: Rest,
  call: Call,
  since: number | undefined,
  max: number
): Effect.fn.Return<ChangedPulls, ForgeError> {
  const most = Math.max(2 * max, pages.value)
  const read = (from: number | undefined, size: number, few: number) =>
    rest.list(
      { ...call, query: { ...call.query, since: from === undefined ? undefined : toIsoSecond(from) }, isPolled: true },
      readChanged,
      { name: pages.name, value: size, max: few },
      ({ total = 0 }) => total > most
    )
  const found = yield* read(since, pages.value, most)
  const { more, total = 0 } = found
  if (total <= most) return newestPulls(found.items.filter(isSince(since)), more, max)

  // Since `older` too many have changed, since `newer` too few.
  let older = since ?? 0
  const now = yield* Clock.currentTimeMillis
  let newer = now + maxClockSkew
  let age = firstAge
  let from: number | undefined
  for (let searches = 0; from === undefined && newer - older > 1000 && searches < maxSearches; searches++) {
    const middle = toSecond(newer > now - age && now - age > older ? now - age : (older + newer) / 2)
    const { total: changed = 0 } = yield* read(middle, 1, 1)
    if (changed > most) older = middle
    else if (changed < max) newer = middle
    else from = middle
    age *= 8
  }
  const latest = yield* read(from ?? newer, pages.value, most)
  // Too many changed within one second: the later ones, and as many of these as one page has.
  const items = from === undefined ? [...latest.items, ...(yield* read(older, pages.value, most)).items] : latest.items
  const newest = newestPulls(items.filter(isSince(since)), 0, max)
  return { ...newest, more: total - newest.pulls.length }
})

const query = { type: "pulls", state: "all" }

const giteaPullList = (rest: Rest): HostChanges["pulls"] =>
  listPulls({
    ofOwner: ({ name }, since, max) =>
      readNewest(rest, { path: "/repos/issues/search", query: { ...query, owner: name } }, since, max),
    ofRepository: (fullName, since, max) => {
      const repo: Repo = { fullName }
      return readNewest(rest, { path: "/repos/{owner}/{repo}/issues", params: ownerAndName(repo), query }, since, max)
    },
    hasNone: isRefused(refusals.ownerUnknown)
  })

const readIssue = reader(ListedIssue, ({ created_at, html_url, number, repository, title, updated_at, user }) => {
  const place = { fullName: repository.full_name, hostId: repository.id, number, updatedAt: updated_at }
  const [changed, createdAt] = [readChangedPull(place), readTime(created_at)]
  if (changed === undefined || createdAt === undefined) return undefined
  const more = { title: truncate(title, limits.title), url: html_url ?? undefined, author: toPerson(user) }
  return { ...changed, ...more, createdAt }
})

/** Lists open issues, those of an owner together, or by repository where the owner is unknown to the host. */
const giteaIssueList =
  (rest: Rest): HostChanges["issues"] =>
  (owner, since, max) => {
    const conditions = { type: "issues", state: "open", since: toIsoSecond(since) }
    const read = (call: Call) =>
      Effect.map(rest.list({ ...call, isPolled: true }, readIssue, { ...pages, max }), ({ items, more }) => ({
        issues: items.filter(({ updatedAt }) => updatedAt >= toSecond(since)),
        more
      }))
    return Effect.catchIf(
      read({ path: "/repos/issues/search", query: { ...conditions, owner: owner.name } }),
      isRefused(refusals.ownerUnknown),
      () =>
        Effect.map(
          Effect.forEach(owner.repositories, (name) =>
            read({ path: "/repos/{owner}/{repo}/issues", params: ownerAndName({ fullName: name }), query: conditions })
          ),
          (lists) => ({
            issues: lists.flatMap(({ issues }) => issues),
            more: lists.reduce((sum, one) => sum + one.more, 0)
          })
        )
    )
  }

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
