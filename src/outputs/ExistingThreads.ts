/**
 * Comments by the own account at lines of a pull request, with their state. A review reads them three times: for its summary,
 * before it writes at lines, and to update resolved ones. These reads follow each other closely and cost a request per earlier
 * review on some hosts, so the first result is cached for the others.
 */
import { Clock, Effect } from "effect"
import type { Change } from "../domain/Change.ts"
import { relationToChange } from "../domain/DecidedBy.ts"
import type { DecidedBy } from "../domain/DecidedBy.ts"
import type { IgnoredDismissal, Publication, Reaction } from "../domain/Publication.ts"
import type { ForgeClient, HostThread } from "../forge/Forge.ts"
import type { ForgeError } from "../forge/ForgeError.ts"
import { readFingerprint, isDeletionDismissal, listPosted, recogniseEdited } from "./review/ChangedComments.ts"
import type { TakenComment } from "./review/ChangedComments.ts"
import { findDismissers } from "./review/Dismissal.ts"
import type { Dismissal } from "./review/Dismissal.ts"
import { parseMarkers } from "./Marker.ts"
import type { Marker } from "./Marker.ts"
import type { ExistingProblem } from "./review/Reconcile.ts"
import { Records } from "./Records.ts"

export interface ExistingThread extends ExistingProblem {
  readonly thread: HostThread
  /** An objection withdrew it. */
  readonly isWithdrawn?: boolean
  /** People without the permission who dismissed it: shown, but without effect. */
  readonly ignored: ReadonlyArray<string>
  /** Present if a person dismissed it. */
  readonly by?: DecidedBy | undefined
}

const fingerprintIn = ({ body }: HostThread): string | undefined =>
  parseMarkers(body).find((marker) => marker.fp !== undefined)?.fp

/** People who may dismiss, and their relation to the change; undefined for a person whom the service did not note. */
interface Dismissers {
  readonly mayDismiss: (username: string) => boolean
  readonly relation: (username: string | undefined) => DecidedBy
}

const toExistingThreads = (
  thread: HostThread,
  { mayDismiss, relation }: Dismissers,
  recognised?: string
): ReadonlyArray<ExistingThread> => {
  const markers = parseMarkers(thread.body)
  const fp = recognised ?? fingerprintIn(thread)
  if (fp === undefined) return []
  const mark = markers.findLast((marker) => marker.state !== undefined)?.state
  const state = readState(thread, mark, mayDismiss)
  // A reopened finding stays open although a person dismissed it at the host: some hosts offer no way to undo that.
  const ignored = state === "open" && mark !== "open" ? thread.dismissedBy : []
  const isWithdrawn = mark === "withdrawn"
  const by =
    state !== "dismissed" || isWithdrawn
      ? undefined
      : relation(mark === "dismissed" ? undefined : thread.dismissedBy.find(mayDismiss))
  return [{ fp, files: [thread.path], state, thread, ignored, isWithdrawn, by }]
}

/** `mark`: the state that the service wrote last, for a person with the permission or after an objection. */
const readState = (
  { dismissedBy, resolved }: HostThread,
  mark: Marker["state"],
  mayDismiss: (username: string) => boolean
): ExistingProblem["state"] => {
  if (mark === "open") return "open"
  if (mark === "dismissed" || mark === "withdrawn") return "dismissed"
  if (resolved || mark === "resolved") return "resolved"
  return dismissedBy.some(mayDismiss) ? "dismissed" : "open"
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
  [...Map.groupBy(threads, ({ fp }) => fp)].slice(0, maxReactions).map(([fp, own]) => {
    const dismissed = own.every(({ state }) => state !== "open") && own.some(({ state }) => state === "dismissed")
    const by = own.find((one) => one.by !== undefined)?.by
    return {
      fp,
      dismissed,
      ...(dismissed && by !== undefined ? { by } : {}),
      ...(dismissed && own.some(({ isWithdrawn }) => isWithdrawn === true) ? { withdrawn: true as const } : {}),
      replied: own.some(({ thread }) => thread.replied)
    }
  })

/** `posted`: comments of earlier reviews, by which those are recognised whose text a person replaced. They are read if there is such a comment. */
export const listExistingThreads = Effect.fnUntraced(function* (
  client: ForgeClient,
  change: Change,
  number: number,
  dismissal: Dismissal,
  posted: Effect.Effect<ReadonlyArray<TakenComment>, ForgeError> = Effect.succeed([])
): Effect.fn.Return<ReadonlyArray<ExistingThread>, ForgeError> {
  const threads = yield* client.threads.list(change.repo, number)
  const people = threads.flatMap(({ dismissedBy }) => dismissedBy)
  const dismissers: Dismissers = {
    mayDismiss: yield* findDismissers(client, change, dismissal, people),
    relation: (username) => relationToChange(dismissal, change.author, username)
  }
  const marked = threads.flatMap((thread) => toExistingThreads(thread, dismissers))
  const unmarked = threads.filter((thread) => fingerprintIn(thread) === undefined)
  if (unmarked.length === 0) return marked
  const edited = recogniseEdited(unmarked, yield* posted, new Set(marked.map(({ fp }) => fp)))
  // What a person wrote is not changed, like a comment with a reply.
  const asReplied = edited.flatMap(({ fp, thread }) => toExistingThreads({ ...thread, replied: true }, dismissers, fp))
  return [...marked, ...asReplied]
})

/** The publication that needs the comments, or the review before it is planned. */
type ThreadReader = Pick<Publication, "runId" | "targetKey" | "channel"> &
  Partial<Pick<Publication, "attempts" | "operation" | "status">> & {
    /** True if the host has no comments (`HasNoOthers`): nothing is requested, for this row and the next ones of the review. */
    readonly hasNoOthers?: boolean
    /** Problems that the review found. */
    readonly present?: ReadonlyArray<string>
  }

/** Returns the problems that the operation or the review is about. A first publication has no deleted comments. */
const problemsOf = (
  { operation, present = [] }: ThreadReader,
  previous: Publication | undefined
): ReadonlyArray<string> => {
  if (operation === undefined) return present
  // The row of threads is not sent where there was nothing to resolve.
  if (previous === undefined && operation._tag !== "Threads") return []
  switch (operation._tag) {
    case "Review":
      return operation.comments.flatMap((comment) => readFingerprint(comment) ?? [])
    case "Summary":
      return operation.problems?.present ?? []
    case "Threads":
      return operation.present
    default:
      return []
  }
}

/** Returns the problems of the operation whose comments people deleted at the host to dismiss them. */
const listDeleted = Effect.fnUntraced(function* (
  client: ForgeClient,
  change: Change,
  dismissal: Dismissal,
  wanted: ReadonlyArray<string>,
  posted: Effect.Effect<ReadonlyArray<TakenComment>, ForgeError>
): Effect.fn.Return<ReadonlyArray<ExistingThread>, ForgeError> {
  if (wanted.length === 0) return []
  const missing = new Map((yield* posted).map((one) => [one.fp, one.comment]))
  const deleted = wanted.flatMap((fp) => {
    const comment = missing.get(fp)
    return comment === undefined ? [] : [{ fp, comment }]
  })
  if (deleted.length === 0 || !(yield* isDeletionDismissal(client, change, dismissal))) return []
  return deleted.map(({ fp, comment: { body, line, path, side } }) => {
    const thread = { hostId: "", body, path, line, side, dismissedBy: [], resolved: false, replied: false }
    const by = relationToChange(dismissal, change.author, undefined)
    return { fp, files: [path], state: "dismissed", thread, ignored: [], by }
  })
})

export type ExistingThreads = Effect.Effect<ReadonlyArray<ExistingThread>, ForgeError>

interface CachedThreads {
  readonly client: ForgeClient
  readonly at: number
  readonly threads: ReadonlyArray<ExistingThread>
  /** Comments of earlier reviews, read when they are needed. */
  readonly posted: Effect.Effect<ReadonlyArray<TakenComment>, ForgeError>
}

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
    reader: ThreadReader,
    previous?: Publication
  ): Effect.fn.Return<ReadonlyArray<ExistingThread>, ForgeError> {
    const { runId, targetKey, channel, attempts, hasNoOthers = false, operation, status } = reader
    const { number } = change.target
    if (number === undefined) return []
    const key = JSON.stringify([runId, targetKey, channel])
    const now = yield* Clock.currentTimeMillis
    const entry = cache.get(key)
    cache.delete(key)
    // A review is published again because the state of a comment changed.
    const isRepeated = (attempts ?? 0) > 0 || status === "unknown" || previous?.runId === runId
    const isUsable = entry !== undefined && entry.client === client && now - entry.at < maxAgeMillis && !isRepeated
    const records = yield* Records
    const posted = isUsable ? entry.posted : yield* Effect.cached(Effect.map(records.reviews(reader), listPosted))
    const list = hasNoOthers ? Effect.succeed([]) : listExistingThreads(client, change, number, dismissal, posted)
    const threads = isUsable ? entry.threads : yield* list
    const existing = new Set(threads.map(({ fp }) => fp))
    const wanted = problemsOf(reader, previous).filter((fp) => !existing.has(fp))
    const all = [...threads, ...(yield* listDeleted(client, change, dismissal, wanted, posted))]
    if (operation?._tag === "Threads") return all
    for (const [other, { at }] of cache) if (now - at >= maxAgeMillis || cache.size >= maxCached) cache.delete(other)
    cache.set(key, isUsable ? entry : { client, at: now, threads, posted })
    return all
  })
}
