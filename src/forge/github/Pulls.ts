/** Pull requests and branches of GitHub. */
import { Effect, Schema } from "effect"
import type { Repo } from "../../domain/Change.ts"
import type { ForgeClient } from "../Forge.ts"
import { toHostPull } from "../hosts/GithubResponses.ts"
import type { Rest } from "../http/Http.ts"
import { ownerAndName, repoPath } from "../http/Profile.ts"
import { undefinedIfMissing } from "../http/UndefinedIfMissing.ts"
import { Branch, Commit, ListedPull, Pull, toPerson } from "./Responses.ts"
import { pages, refusals } from "./Facts.ts"
import { isRefused } from "../http/HostWords.ts"

export const githubPulls = (
  rest: (repo: Repo) => Rest
): Pick<ForgeClient, "pull" | "describe" | "openPulls" | "branchHead" | "branchTip" | "newestCommit"> => ({
  pull: (repo, number) =>
    Effect.map(
      rest(repo).get(
        { path: `${repoPath}/pulls/{pull_number}`, params: { ...ownerAndName(repo), pull_number: number } },
        Pull
      ),
      (source) => toHostPull(source, repo, toPerson)
    ),
  describe: (repo, number, body) =>
    Effect.asVoid(
      rest(repo).write(
        {
          method: "PATCH",
          path: `${repoPath}/pulls/{pull_number}`,
          params: { ...ownerAndName(repo), pull_number: number },
          body: { body },
          content: true
        },
        Schema.Unknown
      )
    ),
  openPulls: (repo, head) =>
    rest(repo)
      .pages(
        { path: `${repoPath}/commits/{commit_sha}/pulls`, params: { ...ownerAndName(repo), commit_sha: head } },
        ListedPull,
        pages
      )
      .pipe(
        Effect.map((pulls) =>
          pulls.flatMap((listed) => (listed.state === "open" && listed.head.sha === head ? [listed.number] : []))
        ),
        Effect.catchIf(isRefused(refusals.commitUnknown), () => Effect.succeed([]))
      ),
  branchHead: (repo, branch) =>
    Effect.map(
      rest(repo).get(
        { path: `${repoPath}/commits/{ref}`, params: { ...ownerAndName(repo), ref: `heads/${branch}` } },
        Commit
      ),
      (commit) => commit.sha
    ),
  branchTip: (repo, branch) =>
    rest(repo)
      .get({ path: `${repoPath}/branches/{branch}`, params: { ...ownerAndName(repo), branch } }, Branch)
      .pipe(
        Effect.map((tip) => ({ commit: tip.commit.sha, isProtected: tip.protected })),
        undefinedIfMissing
      ),
  newestCommit: (repo, { branch, until }) =>
    Effect.map(
      rest(repo).get(
        {
          path: `${repoPath}/commits`,
          params: ownerAndName(repo),
          query: { sha: branch, until: until === undefined ? undefined : new Date(until).toISOString(), per_page: 1 }
        },
        Schema.Array(Commit)
      ),
      (commits) => commits[0]?.sha
    )
})
