/**
 * Who decides what a change asks to be read, when that is no member of its repository: context repositories that are for members are
 * not mounted for them. Of a pull request that is its author; whoever pushes, calls or schedules could write already. Asked of the host
 * for each run, because membership changes.
 */
import { Effect } from "effect"
import type { Workspace } from "../src/config/Snapshot.ts"
import { isAdministrator } from "../src/domain/Change.ts"
import type { Change } from "../src/domain/Change.ts"
import type { ForgeClient, ForgeError } from "../src/forge/Forge.ts"

/** Undefined: a member, or nothing depends on it. A text names who is not. An answer that may come later fails. */
export const findOutsider = Effect.fnUntraced(function* (
  { author, repo, requestedBy, target }: Change,
  { contextRepositories }: Workspace,
  client: Pick<ForgeClient, "canWrite">
): Effect.fn.Return<string | undefined, ForgeError> {
  if (target.kind !== "pull_request") return undefined
  if (contextRepositories.every(({ visibility }) => visibility === "any_author")) return undefined
  if (author === undefined) return "the author of the change, whom the host does not name,"
  const requester = requestedBy === undefined || isAdministrator(requestedBy) ? [] : [requestedBy]
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
