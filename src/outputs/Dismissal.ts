/**
 * Who may dismiss a problem for good (`review.dismissal`). With `maintainers` it is who may write to the repository and did not open the
 * change; what others do is shown and not obeyed. The host is asked at most once per person for a while.
 */
import { Clock, Effect } from "effect"
import type { Workspace } from "../config/Snapshot.ts"
import type { Change } from "../domain/Change.ts"
import type { ForgeClient, ForgeError } from "../forge/Forge.ts"

export type Dismissal = Workspace["review"]["dismissal"]

interface Known {
  readonly at: number
  readonly canWrite: boolean
}

/** A right that is given or taken away counts after this. */
const keptMillis = 5 * 60_000
/** Per client; the oldest is forgotten. */
const maxKept = 1000
/** People of one pull request that the host is asked about; what others dismissed is not obeyed. */
const maxPeople = 20

const kept = new WeakMap<ForgeClient, Map<string, Known>>()

const folded = (username: string): string => username.toLowerCase()

const mayWrite = Effect.fnUntraced(function* (
  client: ForgeClient,
  { repo }: Change,
  username: string
): Effect.fn.Return<boolean, ForgeError> {
  const people = kept.get(client) ?? new Map<string, Known>()
  kept.set(client, people)
  const key = JSON.stringify([repo.fullName, folded(username)])
  const now = yield* Clock.currentTimeMillis
  const entry = people.get(key)
  if (entry !== undefined && now - entry.at < keptMillis) return entry.canWrite
  const canWrite = yield* Effect.catchIf(
    client.canWrite(repo, username),
    ({ reason }) => reason !== "rate_limited" && reason !== "unavailable",
    ({ message }) =>
      Effect.as(
        Effect.logWarning("write permission is unknown, a dismissal is not obeyed").pipe(
          Effect.annotateLogs({ username, reason: message })
        ),
        false
      )
  )
  people.delete(key)
  people.set(key, { at: now, canWrite })
  const [oldest] = people.keys()
  if (people.size > maxKept && oldest !== undefined) people.delete(oldest)
  return canWrite
})

/** Of these people those who may dismiss. */
export const whoMayDismiss = Effect.fnUntraced(function* (
  client: ForgeClient,
  change: Change,
  dismissal: Dismissal,
  people: ReadonlyArray<string>
): Effect.fn.Return<(username: string) => boolean, ForgeError> {
  if (dismissal === "anyone") return () => true
  const author = change.author === undefined ? undefined : folded(change.author.username)
  const others = [...new Set(people.map(folded))].filter((person) => person !== author).slice(0, maxPeople)
  const writers = new Set<string>()
  for (const person of others) if (yield* mayWrite(client, change, person)) writers.add(person)
  return (username) => writers.has(folded(username))
})
