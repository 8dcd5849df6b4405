/** Pull requests and branches of Gitea and Forgejo. */
import { Effect, Schema } from "effect"
import { ForgeError } from "../ForgeError.ts"
import type { ForgeClient } from "../Forge.ts"
import { toHostPull } from "../GithubResponses.ts"
import type { Rest } from "../Http.ts"
import { ownerAndName } from "../Profile.ts"
import { undefinedIfMissing } from "../UndefinedIfMissing.ts"
import { Branch, Commit, ListedPull, Pull, toPerson } from "./Responses.ts"
import { pages } from "./Facts.ts"

const repoPath = "/repos/{owner}/{repo}"

export const giteaPulls = (
  rest: Rest
): Pick<ForgeClient, "pull" | "openPulls" | "newestCommit" | "branchHead" | "protectedTip"> => {
  const pull: ForgeClient["pull"] = (repo, number) =>
    Effect.map(
      rest.get({ path: `${repoPath}/pulls/{index}`, params: { ...ownerAndName(repo), index: number } }, Pull),
      (source) => toHostPull(source, repo, toPerson)
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

  const newestCommit: ForgeClient["newestCommit"] = (repo, { branch, until }) => {
    const onlyNewest = { limit: 1, page: 1, stat: "false", verification: "false", files: "false" }
    const query = { sha: branch, until: until === undefined ? undefined : new Date(until).toISOString(), ...onlyNewest }
    return Effect.map(
      rest.get({ path: `${repoPath}/commits`, params: ownerAndName(repo), query }, Schema.Array(Commit)),
      (commits) => commits[0]?.sha
    )
  }

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

  const protectedTip: ForgeClient["protectedTip"] = (repo, branch) =>
    rest.get({ path: `${repoPath}/branches/{branch}`, params: { ...ownerAndName(repo), branch } }, Branch).pipe(
      Effect.map((tip) => (tip.protected ? tip.commit?.id : undefined)),
      undefinedIfMissing
    )

  return { pull, openPulls, newestCommit, branchHead, protectedTip }
}
