/** Reads what changed at GitHub. */
import { Effect, Schema } from "effect"
import type { Repo } from "../../domain/Change.ts"
import type { ChangedPull, ChangedPulls, HostChanges, HostDeliveries, HostOwner } from "../hosts/HostChanges.ts"
import { isBy } from "../hosts/OwnAccount.ts"
import {
  listPulls,
  listTips,
  maxComments,
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
import { ownerAndName, repoPath } from "../http/Profile.ts"
import { limits } from "../webhook/Payload.ts"
import type { Access } from "./Access.ts"
import { statusContext } from "./CheckIdentity.ts"
import { readChecks } from "./CheckRuns.ts"
import { stateNames } from "./Comments.ts"
import { toCommentId } from "./CommentId.ts"
import { maxSearchResults, pages, refusals } from "./Facts.ts"
import {
  ChangedPullItem,
  Comparison,
  DeliveredPayload,
  Delivery,
  FoundPull,
  FoundPulls,
  ListedStatus,
  PushedCommit,
  Tip,
  toAuthor,
  toPerson,
  WrittenReply
} from "./Responses.ts"
import type { Rest } from "../http/Http.ts"
import { anyWriter, WriteOwner } from "../WriteOwner.ts"
import { WritePermits } from "../WritePermits.ts"
import { mayStart, webhook } from "./Webhook.ts"
import type { ForgeError } from "../ForgeError.ts"
import { isRefused } from "../http/HostWords.ts"

/** Pull requests of GitHub by the time of their update: one search serves all repositories of an owner. */

const readFoundPull = reader(FoundPull, ({ number, repository_url: url, updated_at: updatedAt }) =>
  readChangedPull({ fullName: /\/repos\/(.+)$/.exec(url)?.[1], hostId: undefined, number, updatedAt })
)

const readListed = reader(ChangedPullItem, ({ base: { repo }, number, updated_at: updatedAt }) =>
  readChangedPull({ fullName: repo.full_name, hostId: repo.id, number, updatedAt })
)

const isBefore = (since: number | undefined) => (pull: ChangedPull) =>
  since !== undefined && pull.updatedAt < toSecond(since)

const maxPages = maxSearchResults / pages.value

/** Most repositories of an owner that are tried in search of one on which the app is installed. */
const maxInstallations = 3

const githubPullList = ({ rest, search }: Pick<Access, "rest" | "search">): HostChanges["pulls"] => {
  const find = Effect.fnUntraced(function* (
    through: string,
    owner: string,
    since: number | undefined,
    max: number
  ): Effect.fn.Return<ChangedPulls | undefined, ForgeError> {
    const q = `is:pr user:${owner}${since === undefined ? "" : ` updated:>=${toIsoSecond(since)}`}`
    const wanted = Math.min(max, maxSearchResults)
    const found: Array<ChangedPull> = []
    for (let page = 1, seen = 0; ; page++) {
      const query = { q, sort: "updated", order: "desc", per_page: pages.value, page }
      const result = yield* search({ fullName: through }).get(
        { path: "/search/issues", query, isPolled: true },
        FoundPulls
      )
      if (result.incomplete_results === true) return undefined
      const { items, total_count: total } = result
      seen += items.length
      found.push(...items.flatMap((item) => readFoundPull(item) ?? []))
      const isLast = items.length === 0 || seen >= total || page >= maxPages
      if (isLast || found.length >= wanted) return newestPulls(found, Math.max(0, total - seen), wanted)
    }
  })

  const ofOwner = (
    { name, repositories }: HostOwner,
    since: number | undefined,
    max: number,
    tried = 0
  ): Effect.Effect<ChangedPulls | undefined, ForgeError> =>
    Effect.catchIf(
      find(repositories[tried] ?? `${name}/`, name, since, max),
      ({ why }) => why._tag === "AppNotInstalled" && tried + 1 < Math.min(repositories.length, maxInstallations),
      () => ofOwner({ name, repositories }, since, max, tried + 1)
    )

  return listPulls({
    ofOwner,
    ofRepository: (fullName, since, max) => {
      const query = { state: "all", sort: "updated", direction: "desc" }
      const call = { path: "/repos/{owner}/{repo}/pulls", params: ownerAndName({ fullName }), query, isPolled: true }
      const isOld = isBefore(since)
      return Effect.map(
        rest({ fullName }).list(call, readListed, { ...pages, max }, ({ items }) => items.some(isOld)),
        ({ items, more }) =>
          newestPulls(
            items.filter((pull) => !isOld(pull)),
            items.some(isOld) ? 0 : more,
            max
          )
      )
    },
    hasNone: isRefused(refusals.ownerUnknown)
  })
}

/** Deliveries to the webhook of a GitHub App, which the host logs for three days and repeats on request. */

const deliveriesPath = "/app/hook/deliveries"

const readDelivery = reader(Delivery, ({ action, event, guid, id, ...delivery }) => {
  const at = readTime(delivery.delivered_at)
  return at === undefined
    ? undefined
    : {
        id: String(id),
        guid,
        at,
        // A delivery without a response has the status 0.
        isReceived: delivery.status_code >= 200 && delivery.status_code <= 399,
        isRepeated: delivery.redelivery,
        mayStart: mayStart(event, action),
        repositoryId: delivery.repository_id ?? undefined
      }
})

const githubDeliveries = (app: Rest): HostDeliveries => {
  const one = (id: string) => ({ path: `${deliveriesPath}/{delivery_id}`, params: { delivery_id: id } })
  return {
    list: (since, max) =>
      Effect.map(
        app.list({ path: deliveriesPath }, readDelivery, { ...pages, max, byCursor: true }, ({ items }) =>
          items.some(({ at }) => at < toSecond(since))
        ),
        ({ items, more }) => {
          const deliveries = items.filter(({ at }) => at >= toSecond(since))
          return { deliveries, more: deliveries.length < items.length ? 0 : more }
        }
      ),
    event: (id) =>
      Effect.map(app.get(one(id), DeliveredPayload), ({ event, request }) => {
        const parsed = webhook.parse({ "x-github-event": event }, Buffer.from(JSON.stringify(request.payload)))
        return parsed._tag === "Event" ? parsed.event : undefined
      }),
    repeat: (id) =>
      app
        .write(
          { ...one(id), method: "POST", path: `${deliveriesPath}/{delivery_id}/attempts`, content: false },
          Schema.Unknown
        )
        .pipe(Effect.asVoid, Effect.provideService(WriteOwner, anyWriter), Effect.provide(WritePermits.layerAlone))
  }
}

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
