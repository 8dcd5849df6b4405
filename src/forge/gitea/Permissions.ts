/** Permissions of an account and a token at Gitea and Forgejo. */
import { Effect, Schema } from "effect"
import type { Repo } from "../../domain/Change.ts"
import type { ForgeClient } from "../Forge.ts"
import type { Rest } from "../Http.ts"
import { ownerAndName, sameName } from "../Profile.ts"
import { RepositoryId } from "../RepositoryId.ts"
import { missingWriteAccess } from "../WriteAccess.ts"
import { Permission, Repository, User, toUsername } from "./Responses.ts"

const repoPath = "/repos/{owner}/{repo}"
const writers = ["write", "admin", "owner"]

export const giteaPermissions = (rest: Rest): Pick<ForgeClient, "canWrite" | "repositoryId" | "missing"> => {
  const permission = (repo: Repo, username: string) =>
    rest.get(
      {
        path: `${repoPath}/collaborators/{collaborator}/permission`,
        params: { ...ownerAndName(repo), collaborator: username }
      },
      Permission
    )
  /** Only administrators of a repository may read the permissions of others; every account may list the assignable users. */
  const assignable = (repo: Repo) =>
    rest.get({ path: `${repoPath}/assignees`, params: ownerAndName(repo) }, Schema.Array(User))
  const canWrite: ForgeClient["canWrite"] = (repo, username) =>
    permission(repo, username).pipe(
      Effect.map(({ permission: level }) => writers.includes(level)),
      Effect.catchIf(
        (error) => error.reason === "forbidden",
        () => Effect.map(assignable(repo), (users) => users.some((user) => sameName(toUsername(user), username)))
      ),
      Effect.catchIf(
        (error) => error.reason === "not_found",
        () => Effect.succeed(false)
      )
    )

  const repositoryId: ForgeClient["repositoryId"] = (repo) =>
    Effect.map(rest.get({ path: repoPath, params: ownerAndName(repo) }, RepositoryId), ({ id }) => id)

  /** The scopes of a token cannot be read, but a read that needs a missing scope is refused with its name. */
  const missing: ForgeClient["missing"] = Effect.fnUntraced(function* (repo) {
    const params = ownerAndName(repo)
    const { permissions } = yield* rest.get({ path: repoPath, params }, Repository)
    yield* rest.get({ path: `${repoPath}/issues`, params, query: { limit: 1 } }, Schema.Unknown)
    return missingWriteAccess(permissions)
  })

  return { canWrite, repositoryId, missing }
}
