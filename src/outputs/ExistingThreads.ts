/**
 * Comments by the own account at lines of a pull request, with their state. A review reads them three times: for its summary,
 * before it writes at lines, and to update resolved ones. These reads follow each other closely and cost a request per earlier
 * review on some hosts, so the first result is cached for the others.
 */
import { Clock, Effect } from "effect"
import type { Change } from "../domain/Change.ts"
import type { IgnoredDismissal, Publication, Reaction } from "../domain/Publication.ts"
import type { ForgeClient, HostThread } from "../forge/Forge.ts"
import type { ForgeError } from "../forge/ForgeError.ts"
import { findDismissers } from "./Dismissal.ts"
import type { Dismissal } from "./Dismissal.ts"
import { parseMarkers } from "./Marker.ts"
import type { ExistingProblem } from "./Reconcile.ts"

export interface ExistingThread extends ExistingProblem {
  readonly thread: HostThread
  /** People without the permission who dismissed it: shown, but without effect. */
  readonly ignored: ReadonlyArray<string>
}

const toExistingThreads = (
  thread: HostThread,
  mayDismiss: (username: string) => boolean
): ReadonlyArray<ExistingThread> => {
  const markers = parseMarkers(thread.body)
  const fp = markers.find((marker) => marker.fp !== undefined)?.fp
  if (fp === undefined) return []
  // Written by the service for a person with the permission, who dismissed it from chat.
  const isMarked = markers.some((marker) => marker.state === "dismissed")
  const resolved = !isMarked && (thread.resolved || markers.some((marker) => marker.state === "resolved"))
  const state = resolved ? "resolved" : isMarked || thread.dismissedBy.some(mayDismiss) ? "dismissed" : "open"
  const ignored = state === "open" ? thread.dismissedBy : []
  return [{ fp, files: [thread.path], state, thread, ignored }]
}

/** Limits for the record of a run: problems, people per problem, and the length of a name. */
const maxIgnored = 100
const maxPeople = 20
const maxName = 200

/** Returns the ignored dismissals for the record of a run; undefined if there are none. */
export const listIgnoredDismissals = (
  threads: ReadonlyArray<ExistingThread>
): ReadonlyArray<IgnoredDismissal> | undefined => {
  const dismissals = threads
    .filter(({ ignored }) => ignored.length > 0)
    .slice(0, maxIgnored)
    .map(({ fp, thread, ignored }) => ({
      fp,
      file: thread.path,
      by: ignored.slice(0, maxPeople).map((name) => name.slice(0, maxName))
    }))
  return dismissals.length === 0 ? undefined : dismissals
}

/** Maximum number of comments whose reactions a row stores. */
const maxReactions = 1000

/** Returns the reactions for the outcomes of findings, one per finding. Its comments of several reviews count together. */
export const listReactions = (threads: ReadonlyArray<ExistingThread>): ReadonlyArray<Reaction> =>
  [...Map.groupBy(threads, ({ fp }) => fp)].slice(0, maxReactions).map(([fp, own]) => ({
    fp,
    dismissed: own.every(({ state }) => state !== "open") && own.some(({ state }) => state === "dismissed"),
    replied: own.some(({ thread }) => thread.replied)
  }))

export const listExistingThreads = Effect.fnUntraced(function* (
  client: ForgeClient,
  change: Change,
  number: number,
  dismissal: Dismissal
): Effect.fn.Return<ReadonlyArray<ExistingThread>, ForgeError> {
  const threads = yield* client.threads.list(change.repo, number)
  const people = threads.flatMap(({ dismissedBy }) => dismissedBy)
  const mayDismiss = yield* findDismissers(client, change, dismissal, people)
  return threads.flatMap((thread) => toExistingThreads(thread, mayDismiss))
})

export type ExistingThreads = Effect.Effect<ReadonlyArray<ExistingThread>, ForgeError>

interface CachedThreads {
  readonly client: ForgeClient
  readonly at: number
  readonly threads: ReadonlyArray<ExistingThread>
}

/** The publication that needs the comments, or the review before it is planned. */
type ThreadReader = Pick<Publication, "runId" | "targetKey" | "channel"> &
  Partial<Pick<Publication, "attempts" | "operation" | "status">>

/** Maximum age of a cached result, because people reply and dismiss at any time. */
const maxAgeMillis = 60_000
/** Maximum number of reviews that are published at the same time. */
const maxCached = 64

/**
 * Returns the reader with its cache. A retried publication reads again; the last publication of a review removes the cache entry.
 */
export const makeExistingThreads = () => {
  const cache = new Map<string, CachedThreads>()
  return Effect.fnUntraced(function* (
    client: ForgeClient,
    change: Change,
    dismissal: Dismissal,
    { runId, targetKey, channel, attempts, operation, status }: ThreadReader
  ): Effect.fn.Return<ReadonlyArray<ExistingThread>, ForgeError> {
    const { number } = change.target
    if (number === undefined) return []
    const key = JSON.stringify([runId, targetKey, channel])
    const now = yield* Clock.currentTimeMillis
    const entry = cache.get(key)
    cache.delete(key)
    const isRepeated = (attempts ?? 0) > 0 || status === "unknown"
    const isUsable = entry !== undefined && entry.client === client && now - entry.at < maxAgeMillis && !isRepeated
    const threads = isUsable ? entry.threads : yield* listExistingThreads(client, change, number, dismissal)
    if (operation?._tag === "Threads") return threads
    for (const [other, { at }] of cache) if (now - at >= maxAgeMillis || cache.size >= maxCached) cache.delete(other)
    cache.set(key, isUsable ? entry : { client, at: now, threads })
    return threads
  })
}
