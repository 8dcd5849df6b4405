/**
 * Determines whether the person who controls the content of a change is a member of its repository. Context repositories for members are
 * not mounted for others. The person is the author of a pull request; pushes, API calls and schedules require write access already.
 * Membership changes, so the host is queried for each run.
 */
import { Effect } from "effect"
import type { Workspace } from "../src/config/Snapshot.ts"
import { isTrustedRequester } from "../src/domain/Change.ts"
import type { Change } from "../src/domain/Change.ts"
import type { ForgeClient } from "../src/forge/Forge.ts"
import type { ForgeError } from "../src/forge/ForgeError.ts"

/**
 * Returns undefined for a member or if nothing depends on it, and a text that names the outsider otherwise. Fails if the host may reply
 * later.
 */
export const findOutsider = Effect.fnUntraced(function* (
  { author, repo, requestedBy, target }: Change,
  { contextRepositories }: Workspace,
  client: Pick<ForgeClient, "canWrite">
): Effect.fn.Return<string | undefined, ForgeError> {
  if (target.kind !== "pull_request") return undefined
  if (contextRepositories.every(({ visibility }) => visibility === "any_author")) return undefined
  if (author === undefined) return "the author of the change, whom the host does not name,"
  const requester = requestedBy === undefined || isTrustedRequester(requestedBy) ? [] : [requestedBy]
  for (const person of new Set([author.username, ...requester])) {
    const isMember = yield* Effect.catchIf(
      client.canWrite(repo, person),
      ({ reason }) =>
        reason === "forbidden" || reason === "unauthorized" || reason === "not_found" || reason === "invalid",
      () => Effect.succeed(false)
    )
    if (!isMember) return person
  }
  return undefined
})
