/** Permissions of an account and a token at Gitea and Forgejo. */
import { Effect, Schema } from "effect"
import type { ForgeClient } from "../Forge.ts"
import type { Rest } from "../http/Http.ts"
import { ownerAndName, ownerByName, repoPath } from "../http/Profile.ts"
import { RepositoryId } from "../hosts/RepositoryId.ts"
import { missingWriteAccess, movedFrom } from "../hosts/WriteAccess.ts"
import { Permission, Repository, Team } from "./Responses.ts"
import type { Reason } from "../../domain/Reason.ts"
import type { Repo } from "../../domain/Change.ts"
import { ForgeError } from "../ForgeError.ts"
import { isRefused } from "../http/HostWords.ts"
import { notOfOrganisation, refusals } from "./Facts.ts"

/**
 * Determines whether an account may push to a repository of Gitea or Forgejo. The host returns the permission of another account to
 * administrators of the repository only, and in an organisation it derives it from teams, whose permission may be that of issues or of the
 * wiki alone. The units of a team decide there. The list of assignees proves nothing: it has readers, too.
 */

const administrators = ["admin", "owner"]
const writers = ["write", ...administrators]

const isWriter = (level: string | null | undefined): boolean => writers.includes(level ?? "none")
const writesCode = ({ permission, units_map: units }: typeof Team.Type): boolean =>
  administrators.includes(permission ?? "none") || isWriter(units?.["repo.code"])

/** Sends a request that the host may refuse because of its arguments or the rights of the account: undefined then. */
const unlessRefused = <A>(request: Effect.Effect<A, ForgeError>) =>
  Effect.catchIf(request, isRefused(refusals.notShown), () => Effect.undefined)

const unknown = (operation: string, username: string) =>
  new ForgeError({ reason: "forbidden", operation, why: { _tag: "WriteAccessUnknown", person: username } })

/** Fails with `forbidden` if the host does not disclose it to the account. */
const writesCodeAt = (rest: Rest) => {
  const permissionOf = (repo: Repo, username: string) =>
    rest.get(
      {
        path: `${repoPath}/collaborators/{collaborator}/permission`,
        params: { ...ownerAndName(repo), collaborator: username }
      },
      Permission
    )
  const isCollaborator = (repo: Repo, username: string) =>
    Effect.map(
      unlessRefused(
        rest.headers({
          path: `${repoPath}/collaborators/{collaborator}`,
          params: { ...ownerAndName(repo), collaborator: username }
        })
      ),
      (found) => found !== undefined
    )
  /** Undefined for the repository of a person. */
  const teamsOf = (repo: Repo) =>
    Effect.catchIf(
      rest.get({ path: `${repoPath}/teams`, params: ownerAndName(repo) }, Schema.Array(Team)),
      ({ status }) => status === notOfOrganisation,
      () => Effect.undefined
    )
  const isMember = (username: string) => (team: typeof Team.Type) =>
    Effect.map(
      unlessRefused(rest.headers({ path: "/teams/{id}/members/{username}", params: { id: team.id, username } })),
      (found) => found !== undefined
    )

  return Effect.fnUntraced(function* (repo: Repo, username: string): Effect.fn.Return<boolean, ForgeError> {
    const result = yield* Effect.result(permissionOf(repo, username))
    if (result._tag === "Failure" && result.failure.reason === "not_found") return false
    if (result._tag === "Failure" && result.failure.reason !== "forbidden") return yield* result.failure
    const level = result._tag === "Success" ? result.success.permission : undefined
    if (level !== undefined && administrators.includes(level)) return true
    const teams = yield* teamsOf(repo)
    if (teams === undefined) return level === undefined ? yield* unknown(repoPath, username) : isWriter(level)
    if (isWriter(level)) {
      // Without a team that writes to something else only, the permission is that of code. That of a collaborator applies to all units.
      const isOfCode = teams.every((team) => !isWriter(team.permission) || writesCode(team))
      if (isOfCode || (yield* isCollaborator(repo, username))) return true
    }
    // Teams whose permission the host returned above are not searched again.
    const isHidden = (team: typeof Team.Type) => level === undefined || isWriter(level) || !isWriter(team.permission)
    for (const team of teams.filter(writesCode).filter(isHidden)) if (yield* isMember(username)(team)) return true
    return level === undefined ? yield* unknown(repoPath, username) : false
  })
}

/** Returns what these hosts refuse to an account that may only write. */
const missingAdministration = (permissions: (typeof Repository.Type)["permissions"]): ReadonlyArray<Reason> =>
  permissions?.push !== true || permissions.admin === true ? [] : [{ _tag: "NotAdministrator" }]

export const giteaPermissions = (
  rest: Rest
): Pick<ForgeClient, "canWrite" | "ownerOf" | "repositoryId" | "missing" | "writers"> => {
  const repositoryId: ForgeClient["repositoryId"] = (repo) =>
    Effect.map(rest.get({ path: repoPath, params: ownerAndName(repo) }, RepositoryId), ({ id }) => id)

  /** The scopes of a token cannot be read, but a read that needs a missing scope is refused with its name. */
  const missing: ForgeClient["missing"] = Effect.fnUntraced(function* (repo) {
    const params = ownerAndName(repo)
    const { full_name: now, permissions } = yield* rest.get({ path: repoPath, params }, Repository)
    yield* rest.get({ path: `${repoPath}/issues`, params, query: { limit: 1 } }, Schema.Unknown)
    return [...movedFrom(repo.fullName, now), ...missingWriteAccess(permissions), ...missingAdministration(permissions)]
  })

  return { canWrite: writesCodeAt(rest), writers: undefined, ownerOf: ownerByName, repositoryId, missing }
}
