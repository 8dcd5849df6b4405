/** Permissions of an account and a token at GitLab. */
import { Effect } from "effect"
import type { ForgeClient } from "../Forge.ts"
import type { Rest } from "../http/Http.ts"
import { sameName } from "../http/Profile.ts"
import { RepositoryId } from "../hosts/RepositoryId.ts"
import { movedFrom } from "../hosts/WriteAccess.ts"
import { undefinedIfMissing } from "../http/UndefinedIfMissing.ts"
import { Member, Project, ProjectNamespace, Token } from "./Responses.ts"
import { projectId, projectPath } from "./Paths.ts"
import { developer, pages, refusals } from "./Facts.ts"
import { isRefused } from "../http/HostWords.ts"
import type { Reason } from "../../domain/Reason.ts"

/** Determines the permissions that reviews need and a GitLab token lacks. Pure. */

/** `scopes` is undefined for a token that cannot read its own record. */
const missingOfScopes = (scopes: ReadonlyArray<string> | undefined): ReadonlyArray<Reason> =>
  scopes === undefined || scopes.includes("api")
    ? []
    : [{ _tag: "TokenLacksApi", has: scopes.length === 0 ? { _tag: "NoScope" } : { _tag: "HasScopes", scopes } }]

/** `level` is the higher of the account's roles in the project and its group; undefined where it is a member of neither. */
const missingOfRole = (level: number | undefined): ReadonlyArray<Reason> => {
  if (level !== undefined && level >= developer) return []
  return [{ _tag: "RoleTooLow", role: { _tag: level === undefined ? "NotAMember" : "BelowDeveloper" } }]
}

export const gitlabPermissions = (
  rest: Rest
): Pick<ForgeClient, "canWrite" | "ownerOf" | "repositoryId" | "missing" | "writers"> => ({
  writers: undefined,
  ownerOf: ({ hostId }) =>
    hostId === undefined
      ? Effect.undefined
      : rest.get({ path: projectPath, params: { id: hostId } }, ProjectNamespace).pipe(
          Effect.map(({ namespace }) => (namespace.kind === "user" ? namespace.full_path : undefined)),
          undefinedIfMissing
        ),
  repositoryId: (repo) =>
    Effect.map(rest.get({ path: projectPath, params: { id: projectId(repo) } }, RepositoryId), ({ id }) => id),
  canWrite: (repo, username) =>
    Effect.map(
      rest.pages(
        { path: `${projectPath}/members/all`, params: { id: projectId(repo) }, query: { query: username } },
        Member,
        pages
      ),
      (members) => members.some((member) => sameName(member.username, username) && member.access_level >= developer)
    ),
  missing: Effect.fnUntraced(function* (repo) {
    const { path_with_namespace: now, permissions } = yield* rest.get(
      { path: projectPath, params: { id: projectId(repo) } },
      Project
    )
    const { project_access: project, group_access: group } = permissions ?? {}
    const levels = [project, group].flatMap((role) => role?.access_level ?? [])
    const own = yield* Effect.catchIf(
      rest.get({ path: "/personal_access_tokens/self" }, Token),
      isRefused(refusals.tokenWithoutRecord),
      () => Effect.succeed(undefined)
    )
    return [
      ...movedFrom(repo.fullName, now),
      ...missingOfScopes(own?.scopes),
      ...missingOfRole(levels.length === 0 ? undefined : Math.max(...levels))
    ]
  })
})
