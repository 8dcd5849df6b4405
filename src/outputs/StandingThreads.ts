/**
 * Our comments at lines of a pull request, and what became of each. A review looks three times: for its summary, before it writes at lines,
 * and to settle what is gone. These looks follow each other closely and cost a request for each earlier review on some hosts, so
 * the first one is kept for the others.
 */
import { Clock, Effect } from "effect"
import type { Change } from "../domain/Change.ts"
import type { IgnoredDismissal, Publication } from "../domain/Publication.ts"
import type { ForgeClient, ForgeError, HostThread } from "../forge/Forge.ts"
import { whoMayDismiss } from "./Dismissal.ts"
import type { Dismissal } from "./Dismissal.ts"
import { parseMarkers } from "./Marker.ts"
import type { Standing } from "./Reconcile.ts"

export interface StandingThread extends Standing {
  readonly thread: HostThread
  /** Who dismissed it and may not: shown, not obeyed. */
  readonly ignored: ReadonlyArray<string>
}

const standing = (thread: HostThread, mayDismiss: (username: string) => boolean): ReadonlyArray<StandingThread> => {
  const markers = parseMarkers(thread.body)
  const fp = markers.find((marker) => marker.fp !== undefined)?.fp
  if (fp === undefined) return []
  const resolved = thread.resolved || markers.some((marker) => marker.state === "resolved")
  const state = resolved ? "resolved" : thread.dismissedBy.some(mayDismiss) ? "dismissed" : "open"
  const ignored = state === "open" ? thread.dismissedBy : []
  return [{ fp, files: [thread.path], state, thread, ignored }]
}

/** A run names at most so many problems, and so many people for each. */
const maxIgnored = 100
const maxPeople = 20
const maxName = 200

/** For the record of a run; undefined where there are none. */
export const ignoredDismissals = (
  threads: ReadonlyArray<StandingThread>
): ReadonlyArray<IgnoredDismissal> | undefined => {
  const found = threads
    .filter(({ ignored }) => ignored.length > 0)
    .slice(0, maxIgnored)
    .map(({ fp, thread, ignored }) => ({
      fp,
      file: thread.path,
      by: ignored.slice(0, maxPeople).map((name) => name.slice(0, maxName))
    }))
  return found.length === 0 ? undefined : found
}

export const standingThreads = Effect.fnUntraced(function* (
  client: ForgeClient,
  change: Change,
  number: number,
  dismissal: Dismissal
): Effect.fn.Return<ReadonlyArray<StandingThread>, ForgeError> {
  const threads = yield* client.threads.list(change.repo, number)
  const people = threads.flatMap(({ dismissedBy }) => dismissedBy)
  const mayDismiss = yield* whoMayDismiss(client, change, dismissal, people)
  return threads.flatMap((thread) => standing(thread, mayDismiss))
})

export type StandingThreads = Effect.Effect<ReadonlyArray<StandingThread>, ForgeError>

interface Kept {
  readonly client: ForgeClient
  readonly at: number
  readonly threads: ReadonlyArray<StandingThread>
}

/** People answer and dismiss meanwhile: what is older is read again. */
const keptMillis = 60_000
/** Reviews that are published at the same time. */
const mostKept = 64

/** What one row of a review works with. A row that is tried again reads for itself; the last one lets go of what was kept. */
export const makeStandingThreads = () => {
  const kept = new Map<string, Kept>()
  return Effect.fnUntraced(function* (
    client: ForgeClient,
    change: Change,
    dismissal: Dismissal,
    { runId, targetKey, channel, attempts, operation, status }: Publication
  ): Effect.fn.Return<ReadonlyArray<StandingThread>, ForgeError> {
    const { number } = change.target
    if (number === undefined) return []
    const key = JSON.stringify([runId, targetKey, channel])
    const now = yield* Clock.currentTimeMillis
    const known = kept.get(key)
    kept.delete(key)
    const isRepeated = attempts > 0 || status === "unknown"
    const usable = known !== undefined && known.client === client && now - known.at < keptMillis && !isRepeated
    const threads = usable ? known.threads : yield* standingThreads(client, change, number, dismissal)
    if (operation._tag === "Threads") return threads
    for (const [other, { at }] of kept) if (now - at >= keptMillis || kept.size >= mostKept) kept.delete(other)
    kept.set(key, usable ? known : { client, at: now, threads })
    return threads
  })
}
