/**
 * Determines who may dismiss a problem permanently (`review.dismissal`). With `maintainers` these are the accounts that may write
 * to the repository and did not open the change; dismissals by others are shown but have no effect. Permissions are cached per
 * person.
 */
import { Clock, Effect } from "effect"
import type { Workspace } from "../../config/Snapshot.ts"
import type { Change, Person } from "../../domain/Change.ts"
import type { ForgeClient } from "../../forge/Forge.ts"
import type { ForgeError } from "../../forge/ForgeError.ts"

export type Dismissal = Workspace["review"]["dismissal"]

interface Permission {
  readonly at: number
  /** Undefined if the host does not disclose it. */
  readonly canWrite: boolean | undefined
}

/** A changed permission takes effect after this time. */
const maxAgeMillis = 5 * 60_000
/** Cache entries per client; the oldest is evicted. */
const maxEntries = 1000
const maxLists = 100
/** Number of people per pull request from which on one list of all writers is read, where everybody may dismiss and the host has the list. */
const maxSingle = 20
/**
 * Maximum number of people per pull request whose permission is read one by one; dismissals by further people have no effect. Without a list
 * of writers, hosts let only people with rights, and the author, resolve a conversation.
 */
const maxPeople = 200

interface Writers {
  readonly at: number
  readonly names: ReadonlySet<string>
}

const lists = new WeakMap<ForgeClient, Map<string, Writers>>()

const permissions = new WeakMap<ForgeClient, Map<string, Permission>>()

const folded = (username: string): string => username.toLowerCase()

const readPermission = Effect.fnUntraced(function* (
  client: ForgeClient,
  { repo }: Change,
  username: string
): Effect.fn.Return<boolean | undefined, ForgeError> {
  const people = permissions.get(client) ?? new Map<string, Permission>()
  permissions.set(client, people)
  const key = JSON.stringify([repo.fullName, folded(username)])
  const now = yield* Clock.currentTimeMillis
  const entry = people.get(key)
  if (entry !== undefined && now - entry.at < maxAgeMillis) return entry.canWrite
  const canWrite = yield* Effect.catchIf(
    client.canWrite(repo, username),
    ({ reason }) => reason !== "rate_limited" && reason !== "unavailable",
    ({ message }) =>
      Effect.as(
        Effect.logWarning("dismissal ignored because the write permission is unknown").pipe(
          Effect.annotateLogs({ username, reason: message })
        ),
        undefined
      )
  )
  people.delete(key)
  people.set(key, { at: now, canWrite })
  const [oldest] = people.keys()
  if (people.size > maxEntries && oldest !== undefined) people.delete(oldest)
  return canWrite
})

const mayWrite = (client: ForgeClient, change: Change, username: string) =>
  Effect.map(readPermission(client, change, username), (canWrite) => canWrite === true)

/** Returns whether the account is known not to write to the repository. */
export const mayNotWrite = (client: ForgeClient, change: Change, { username }: Person) =>
  Effect.map(readPermission(client, change, username), (canWrite) => canWrite === false)

/** Returns the names of all writers; undefined where the host has no list, or does not disclose it. */
const listWriters = Effect.fnUntraced(function* (
  client: ForgeClient,
  { repo }: Change
): Effect.fn.Return<ReadonlySet<string> | undefined, ForgeError> {
  if (client.writers === undefined) return undefined
  const known = lists.get(client) ?? new Map<string, Writers>()
  lists.set(client, known)
  const key = folded(repo.fullName)
  const now = yield* Clock.currentTimeMillis
  const entry = known.get(key)
  if (entry !== undefined && now - entry.at < maxAgeMillis) return entry.names
  const names = yield* Effect.catchIf(
    client.writers(repo),
    ({ reason }) => reason !== "rate_limited" && reason !== "unavailable",
    ({ message }) =>
      Effect.as(
        Effect.logWarning("list of writers not read").pipe(Effect.annotateLogs({ repo: key, reason: message })),
        undefined
      )
  )
  known.delete(key)
  if (names !== undefined) known.set(key, { at: now, names })
  const [oldest] = known.keys()
  if (known.size > maxLists && oldest !== undefined) known.delete(oldest)
  return names
})

/** Returns a predicate for the people who may dismiss. */
export const findDismissers = Effect.fnUntraced(function* (
  client: ForgeClient,
  change: Change,
  dismissal: Dismissal,
  people: ReadonlyArray<string>
): Effect.fn.Return<(username: string) => boolean, ForgeError> {
  if (dismissal === "anyone") return () => true
  const author = change.author === undefined ? undefined : folded(change.author.username)
  const others = [...new Set(people.map(folded))].filter((person) => person !== author)
  // A maintainer is found among any number of others.
  const listed = others.length <= maxSingle ? undefined : yield* listWriters(client, change)
  if (listed !== undefined) return (username) => folded(username) !== author && listed.has(folded(username))
  const writers = new Set<string>()
  for (const person of others.slice(0, maxPeople)) if (yield* mayWrite(client, change, person)) writers.add(person)
  return (username) => writers.has(folded(username))
})
