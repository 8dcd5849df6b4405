/** Permissions of an account and a credential at GitHub. */
import { Effect } from "effect"
import type { ForgeClient } from "../Forge.ts"
import { ownerAndName, ownerByName, repoPath } from "../http/Profile.ts"
import { RepositoryId } from "../hosts/RepositoryId.ts"
import { missingWriteAccess, movedFrom } from "../hosts/WriteAccess.ts"
import type { Access } from "./Access.ts"
import { Collaborator, Permission, Repository } from "./Responses.ts"
import { pages, refusals, writers } from "./Facts.ts"
import { isRefused } from "../http/HostWords.ts"

/** Maximum number of accounts in the list of writers. */
const listed = { ...pages, max: 2000 } as const

export const githubPermissions = (
  { rest, missing }: Pick<Access, "rest" | "missing">,
  isApp: boolean
): Pick<ForgeClient, "canWrite" | "ownerOf" | "repositoryId" | "missing" | "writers"> => ({
  writers: (repo) =>
    Effect.map(
      rest(repo).pages(
        { path: `${repoPath}/collaborators`, params: ownerAndName(repo), query: { permission: "push" } },
        Collaborator,
        listed
      ),
      (people) =>
        new Set(people.flatMap(({ login, permissions }) => (permissions?.push === true ? [login.toLowerCase()] : [])))
    ),
  ownerOf: ownerByName,
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
        Effect.map(({ permission }) => writers.includes(permission)),
        Effect.catchIf(isRefused(refusals.noCollaborator), () => Effect.succeed(false))
      ),
  repositoryId: (repo) =>
    Effect.map(rest(repo).get({ path: repoPath, params: ownerAndName(repo) }, RepositoryId), ({ id }) => id),
  missing: Effect.fnUntraced(function* (repo) {
    const repository = yield* rest(repo).get({ path: repoPath, params: ownerAndName(repo) }, Repository)
    const missingOfCredential = yield* missing(repo, repository.private === true)
    // The installation of an app has no role; the permissions in the repository's response do not apply to it.
    const missingOfAccount = isApp ? [] : missingWriteAccess(repository.permissions)
    return [...movedFrom(repo.fullName, repository.full_name), ...missingOfCredential, ...missingOfAccount]
  })
})
