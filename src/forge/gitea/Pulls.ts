/** Pull requests and branches of Gitea and Forgejo. */
import { Effect, Schema } from "effect"
import { ForgeError } from "../ForgeError.ts"
import type { ForgeClient } from "../Forge.ts"
import { toHostPull } from "../hosts/GithubResponses.ts"
import type { Rest } from "../http/Http.ts"
import { ownerAndName, repoPath } from "../http/Profile.ts"
import { undefinedIfMissing } from "../http/UndefinedIfMissing.ts"
import { Branch, Commit, ListedPull, Pull, toPerson } from "./Responses.ts"
import { maxCommitPage, pages } from "./Facts.ts"

type Commits = ReadonlyArray<typeof Commit.Type>

/**
 * Searches the pages of a list, newest first, for the first commit at `until` (milliseconds since the epoch): pages 1, 2, 4, …, then
 * between the last two. Servers that filter by `until` have it on the first page.
 */
const newestUntil = Effect.fnUntraced(function* (
  read: (page: number) => Effect.Effect<Commits, ForgeError>,
  until: number
): Effect.fn.Return<Commits[number] | undefined, ForgeError> {
  const isOld = ({ created }: Commits[number]) => Date.parse(created ?? "") <= until
  /** Returns whether the commit is on this page or an earlier one, or nowhere. */
  const reaches = (commits: Commits) => commits.length === 0 || commits.some(isOld)
  let newer = 0
  let page = 1
  let found = yield* read(page)
  while (!reaches(found) && page < maxCommitPage) {
    newer = page
    page *= 2
    found = yield* read(page)
  }
  while (page - newer > 1) {
    const middle = Math.floor((newer + page) / 2)
    const commits = yield* read(middle)
    if (reaches(commits)) {
      page = middle
      found = commits
    } else newer = middle
  }
  return found.find(isOld)
})

export const giteaPulls = (
  rest: Rest
): Pick<ForgeClient, "pull" | "describe" | "openPulls" | "newestCommit" | "branchHead" | "branchTip"> => {
  const pull: ForgeClient["pull"] = (repo, number) =>
    Effect.map(
      rest.get({ path: `${repoPath}/pulls/{index}`, params: { ...ownerAndName(repo), index: number } }, Pull),
      (source) => toHostPull(source, repo, toPerson)
    )

  const describe: ForgeClient["describe"] = (repo, number, body) =>
    Effect.asVoid(
      rest.write(
        {
          method: "PATCH",
          path: `${repoPath}/pulls/{index}`,
          params: { ...ownerAndName(repo), index: number },
          body: { body },
          content: true
        },
        Schema.Unknown
      )
    )

  const openPulls: ForgeClient["openPulls"] = (repo, head) =>
    Effect.map(
      rest.pages(
        {
          path: `${repoPath}/pulls`,
          params: ownerAndName(repo),
          query: { state: "open", sort: "recentupdate" }
        },
        ListedPull,
        pages
      ),
      (pulls) => pulls.flatMap((listed) => (listed.state === "open" && listed.head.sha === head ? [listed.number] : []))
    )

  const newestCommit: ForgeClient["newestCommit"] = Effect.fnUntraced(function* (repo, { branch, until }) {
    const list = (page: Readonly<Record<string, string | number>>) =>
      rest.get(
        {
          path: `${repoPath}/commits`,
          params: ownerAndName(repo),
          query: { sha: branch, stat: "false", verification: "false", files: "false", ...page }
        },
        Schema.Array(Commit)
      )
    if (until === undefined) return (yield* list({ limit: 1, page: 1 }))[0]?.sha
    const time = new Date(until).toISOString()
    return (yield* newestUntil((page) => list({ until: time, limit: pages.value, page }), until))?.sha
  })

  const branchHead: ForgeClient["branchHead"] = Effect.fnUntraced(function* (repo, branch) {
    const tip = yield* newestCommit(repo, { branch })
    if (tip === undefined) {
      return yield* new ForgeError({
        reason: "not_found",
        operation: `GET ${repoPath}/commits`,
        why: { _tag: "NoCommitsOnBranch", branch, repository: repo.fullName }
      })
    }
    return tip
  })

  const branchTip: ForgeClient["branchTip"] = (repo, branch) =>
    rest.get({ path: `${repoPath}/branches/{branch}`, params: { ...ownerAndName(repo), branch } }, Branch).pipe(
      Effect.map((tip) => (tip.commit === null ? undefined : { commit: tip.commit.id, isProtected: tip.protected })),
      undefinedIfMissing
    )

  return { pull, describe, openPulls, newestCommit, branchHead, branchTip }
}
