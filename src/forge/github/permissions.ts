/** What an account and a credential may do at GitHub. */
import { Effect } from "effect"
import type { ForgeClient } from "../Forge.ts"
import { ownerAndName } from "../Profile.ts"
import { RepositoryId } from "../RepositoryId.ts"
import { missingWriteAccess } from "../WriteAccess.ts"
import type { Access } from "./access.ts"
import { Permission, Repository } from "./answers.ts"

const repoPath = "/repos/{owner}/{repo}"

export const githubPermissions = (
  { rest, missing }: Pick<Access, "rest" | "missing">,
  isApp: boolean
): Pick<ForgeClient, "canWrite" | "repositoryId" | "missing"> => ({
  canWrite: (repo, username) =>
    rest(repo)
      .get(
        {
          path: `${repoPath}/collaborators/{username}/permission`,
          params: { ...ownerAndName(repo), username }
        },
        Permission
      )
      .pipe(
        Effect.map(({ permission }) => permission === "write" || permission === "admin"),
        Effect.catchIf(
          (error) => error.reason === "not_found",
          () => Effect.succeed(false)
        )
      ),
  repositoryId: (repo) =>
    Effect.map(rest(repo).get({ path: repoPath, params: ownerAndName(repo) }, RepositoryId), ({ id }) => id),
  missing: Effect.fnUntraced(function* (repo) {
    const found = yield* rest(repo).get({ path: repoPath, params: ownerAndName(repo) }, Repository)
    const ofCredential = yield* missing(repo, found.private === true)
    // An app's installation has no role; the permissions of the repository are not about it.
    return !isApp ? [...ofCredential, ...missingWriteAccess(found.permissions)] : ofCredential
  })
})
