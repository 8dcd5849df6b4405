/** Pull requests and branches of Gitea and Forgejo. */
import { Effect, Schema } from "effect"
import type { Repo } from "../../domain/Change.ts"
import { ForgeError } from "../ForgeError.ts"
import type { ForgeClient, HostPull } from "../Forge.ts"
import type { Rest } from "../Http.ts"
import { ownerAndName } from "../Profile.ts"
import { undefinedIfMissing } from "../UndefinedIfMissing.ts"
import { Branch, Commit, ListedPull, Pull, toPerson } from "./Responses.ts"

const repoPath = "/repos/{owner}/{repo}"
const pages = { name: "limit", value: 50 } as const

const toPull = (pull: typeof Pull.Type, requested: Repo): HostPull => ({
  number: pull.number,
  state: pull.merged ? "merged" : pull.state,
  draft: pull.draft ?? false,
  head: pull.head.sha,
  base: pull.base.sha,
  headRef: pull.head.ref,
  baseRef: pull.base.ref,
  title: pull.title,
  description: pull.body ?? "",
  url: pull.html_url,
  author: toPerson(pull.user),
  labels: (pull.labels ?? []).map((label) => label.name),
  repo: pull.base.repo
    ? {
        fullName: pull.base.repo.full_name,
        cloneUrl: pull.base.repo.clone_url,
        webUrl: pull.base.repo.html_url,
        hostId: pull.base.repo.id
      }
    : requested
})

export const giteaPulls = (
  rest: Rest
): Pick<ForgeClient, "pull" | "openPulls" | "newestCommit" | "branchHead" | "protectedTip"> => {
  const pull: ForgeClient["pull"] = (repo, number) =>
    Effect.map(
      rest.get({ path: `${repoPath}/pulls/{index}`, params: { ...ownerAndName(repo), index: number } }, Pull),
      (source) => toPull(source, repo)
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
        message: `branch ${branch} of ${repo.fullName} has no commits`
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
