/** Pull requests of GitHub by the time of their update: one search serves all repositories of an owner. */
import { Effect } from "effect"
import type { ForgeError } from "../ForgeError.ts"
import type { ChangedPull, ChangedPulls, HostChanges, HostOwner } from "../hosts/HostChanges.ts"
import { listPulls, newestPulls, readChangedPull, reader, toIsoSecond, toSecond } from "../hosts/ReadChanges.ts"
import { isRefused } from "../http/HostWords.ts"
import { ownerAndName } from "../http/Profile.ts"
import type { Access } from "./Access.ts"
import { maxSearchResults, pages, refusals } from "./Facts.ts"
import { ChangedPullItem, FoundPull, FoundPulls } from "./Responses.ts"

const readFound = reader(FoundPull, ({ number, repository_url: url, updated_at: updatedAt }) =>
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

export const githubPullList = ({ rest, search }: Pick<Access, "rest" | "search">): HostChanges["pulls"] => {
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
      found.push(...items.flatMap((item) => readFound(item) ?? []))
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
