/**
 * Determines whether the people who control the content of a change are members of its repository. Context repositories for members are
 * not mounted for others. These people are the author of a pull request, the requester of a review and, where its head is in another
 * repository, the owner of that repository and everyone who pushed to the head. Other pushes, API calls and schedules require write access
 * already. Membership changes, so the host is queried for each run.
 */
import { Effect } from "effect"
import type { Workspace } from "../../src/config/Snapshot.ts"
import { foldRepo, isTrustedRequester } from "../../src/domain/Change.ts"
import type { Change, HeadRepo } from "../../src/domain/Change.ts"
import { isMergeable } from "../../src/domain/Kinds.ts"
import type { ForgeClient } from "../../src/forge/Forge.ts"
import type { ForgeError } from "../../src/forge/ForgeError.ts"
import type { Pushers } from "../../src/store/Receipts.ts"
import { unlessUndisclosed } from "./Undisclosed.ts"

/** Maximum number of accounts that pushed to the head whose permission is read; with more there is an outsider. */
export const maxPushers = 20

/** The account that an outsider has, or a text in its place. */
type Outsider = string
type People = { readonly people: ReadonlyArray<string> } | { readonly outsider: Outsider }

const isSameRepo = (head: HeadRepo, { repo }: Change): boolean =>
  head.hostId !== undefined && repo.hostId !== undefined
    ? head.hostId === repo.hostId
    : head.fullName !== undefined && foldRepo(head.fullName) === foldRepo(repo.fullName)

/** Returns who may push to the head, as far as they need not have write access to the repository of the change. */
const findHeadPeople = Effect.fnUntraced(function* <E, R>(
  change: Change,
  client: Pick<ForgeClient, "ownerOf">,
  readPushers: Effect.Effect<Pushers, E, R>
): Effect.fn.Return<People, E | ForgeError, R> {
  const { headRepo, repo } = change
  if (headRepo === undefined) return { outsider: "the owner of the head's repository, which the host does not name," }
  if (isSameRepo(headRepo, change)) return { people: [] }
  const owner = yield* client.ownerOf(headRepo, repo)
  if (owner === undefined)
    return {
      outsider: "the owner of the head's repository, which is a group or hidden from the account of the trigger,"
    }
  const pushers = yield* readPushers
  if (!pushers.pushedHead) return { outsider: "the account that pushed the head, which no delivery names," }
  if (pushers.isPart) return { outsider: `one of more than ${maxPushers} accounts that pushed to the head` }
  return { people: [owner, ...pushers.usernames] }
})

/** Returns who controls the content of a change. */
const findPeople = Effect.fnUntraced(function* <E, R>(
  change: Change,
  client: Pick<ForgeClient, "ownerOf">,
  readPushers: Effect.Effect<Pushers, E, R>
): Effect.fn.Return<People, E | ForgeError, R> {
  const { author, requestedBy, target } = change
  if (!isMergeable(target.kind)) return { people: [] }
  // Of a merge group no delivery names the authors of its pull requests.
  if (author === undefined) return { outsider: "the author of the change, whom the host does not name," }
  const found = yield* findHeadPeople(change, client, readPushers)
  if ("outsider" in found) return found
  const requester = requestedBy === undefined || isTrustedRequester(requestedBy) ? [] : [requestedBy]
  return { people: [author.username, ...requester, ...found.people] }
})

/**
 * Returns undefined for members or if nothing depends on it, and a text that names the outsider otherwise. Fails if the host may reply
 * later. `readPushers` reads from the records who pushed to the head. `readers`: further people for whom it is read, who talk about it.
 */
export const findOutsider = Effect.fnUntraced(function* <E, R>(
  change: Change,
  { contextRepositories }: Workspace,
  client: Pick<ForgeClient, "canWrite" | "ownerOf">,
  readPushers: Effect.Effect<Pushers, E, R>,
  readers: ReadonlyArray<string> = []
): Effect.fn.Return<Outsider | undefined, ForgeError | E, R> {
  if (contextRepositories.every(({ visibility }) => visibility === "any_author")) return undefined
  const found = yield* findPeople(change, client, readPushers)
  if ("outsider" in found) return found.outsider
  for (const person of new Set([...found.people, ...readers])) {
    if (!(yield* unlessUndisclosed(client.canWrite(change.repo, person), false))) return person
  }
  return undefined
})
