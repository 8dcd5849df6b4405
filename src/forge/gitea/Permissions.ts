/** Permissions of an account and a token at Gitea and Forgejo. */
import { Effect, Schema } from "effect"
import type { ForgeClient } from "../Forge.ts"
import type { Rest } from "../http/Http.ts"
import { ownerAndName, ownerByName } from "../http/Profile.ts"
import { RepositoryId } from "../hosts/RepositoryId.ts"
import { missingWriteAccess, movedFrom } from "../hosts/WriteAccess.ts"
import { Repository } from "./Responses.ts"
import { writesCodeAt } from "./WritesCode.ts"
import type { Reason } from "../../domain/Reason.ts"

const repoPath = "/repos/{owner}/{repo}"

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
