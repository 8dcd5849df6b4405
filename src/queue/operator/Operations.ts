/**
 * Operations on waiting and running work for the command line and the administration: show what an entry waits for and until when, cancel,
 * retry, pause. Listeners (a scheduler, a worker) are notified of changes; a lost notification causes a delay, because both poll the queue.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { ConfigStore } from "../../config/ConfigStore.ts"
import type { Change } from "../../domain/Change.ts"
import type { Entry } from "../../domain/Entry.ts"
import type { Reason } from "../../domain/Reason.ts"
import type { TokenRights } from "../../domain/ServiceToken.ts"
import { batchLifecycle } from "../../domain/Batch.ts"
import { hasTerms, searchText } from "../../domain/SearchText.ts"
import { Batches } from "../../store/Batches.ts"
import type { Batch } from "../../store/Batches.ts"
import { Receipts } from "../../store/Receipts.ts"
import type { StoreError } from "../../database/StoreError.ts"
import { maxInFlight, orderByUrgency, workspaceLimits } from "../Plan.ts"
import { Queue } from "../Queue.ts"
import type { Cancelled, QueueError } from "../Queue.ts"
import type { QueueSnapshot } from "../Plan.ts"
import { findPause, QueueControl } from "./QueueControl.ts"
import type { ListFilter, Pause, Retried, WaitingPosition } from "./QueueControl.ts"
import { reviewAgain } from "./ReviewAgain.ts"
import { disputeFinding } from "./DisputeFinding.ts"
import type { Requested } from "./RequestWork.ts"
import { tryAgain } from "./TryAgain.ts"
import { toPosition } from "./Waiting.ts"

type Failure = QueueError | StoreError

export interface EntryView {
  readonly entry: Entry
  readonly position: WaitingPosition
}

/** Result of a lookup by id: an entry, or a batch of automatic commits that is not in the queue. */
type QueueMatch =
  | ({ readonly _tag: "Entry" } & EntryView)
  | { readonly _tag: "Batch"; readonly batch: Batch; readonly members: number }

/** `stopping`: its worker ends it. `over`: it had ended already. */
export type CancelResult = "cancelled" | "stopping" | "over" | "unknown"

/** Lists entries, or those whose text has all of these terms (domain/SearchText.ts): then a page may be short, or empty, and still have a next one. */
interface SearchedList extends ListFilter {
  readonly terms?: ReadonlyArray<string>
}

/** Notified after a change. */
interface QueueListeners {
  readonly changed: (workspace: string) => Effect.Effect<void>
  readonly stopping: (entryId: string, reason: Reason) => Effect.Effect<void>
}

const nobody: QueueListeners = { changed: () => Effect.void, stopping: () => Effect.void }

export class Operations extends Context.Service<
  Operations,
  {
    readonly list: (
      filter: SearchedList
    ) => Effect.Effect<{ readonly items: ReadonlyArray<EntryView>; readonly next: string | undefined }, Failure>
    /** Returns batches of automatic commits that wait for the previous one, which is in the queue. */
    readonly heldBatches: (workspace: string | undefined, limit: number) => Effect.Effect<ReadonlyArray<Batch>, Failure>
    readonly show: (id: string) => Effect.Effect<QueueMatch | undefined, Failure>
    readonly cancel: (id: string, reason: Reason) => Effect.Effect<CancelResult, Failure>
    /** Retries a dead entry, or a batch whose entry is dead. */
    readonly retry: (id: string) => Effect.Effect<Retried, Failure>
    /** Requests another review of a change on behalf of this administrator. */
    readonly reviewAgain: (change: Change, name: string) => Effect.Effect<Requested, Failure>
    /** Requests a decision about the objection of a program (`toDisputed`), once. */
    readonly dispute: (change: Change, token: Pick<TokenRights, "name">) => Effect.Effect<Requested, Failure>
    readonly pause: (scope: Pause["scope"], name: string, reason: Reason) => Effect.Effect<void, Failure>
    readonly resume: (scope: Pause["scope"], name: string) => Effect.Effect<void, Failure>
    readonly pauses: Effect.Effect<ReadonlyArray<Pause>, Failure>
  }
>()("aicr/queue/Operations") {
  static readonly layerWith = (listeners: QueueListeners) =>
    Layer.effect(
      Operations,
      Effect.suspend(() => make(listeners))
    )
  /** Operations of a process without actors, which poll for changes. */
  static readonly layer = Operations.layerWith(nobody)
}

type Records = Batches | ConfigStore | Queue | QueueControl | Receipts

const make = Effect.fnUntraced(function* (listeners: QueueListeners) {
  const { changed } = listeners
  const records = yield* Effect.context<Records>()
  const control = yield* QueueControl
  const provided = <A, E>(operation: Effect.Effect<A, E, Records>) => Effect.provide(operation, records)
  return Operations.of({
    list: (filter) => provided(list(filter)),
    heldBatches: (workspace, limit) => provided(heldBatches(workspace, limit)),
    show: (id) => provided(show(id)),
    cancel: (id, reason) => provided(cancel(listeners, id, reason)),
    retry: (id) => provided(retry(listeners, id)),
    reviewAgain: Effect.fnUntraced(function* (change, name) {
      const again = yield* provided(reviewAgain(change, name))
      if (again._tag === "Queued") yield* changed(change.workspace)
      return again
    }),
    dispute: Effect.fnUntraced(function* (change, token) {
      const requested = yield* provided(disputeFinding(change, token))
      if (requested._tag === "Queued") yield* changed(change.workspace)
      return requested
    }),
    pause: Effect.fnUntraced(function* (scope, name, reason) {
      yield* control.pause({ scope, name, reason, since: yield* Clock.currentTimeMillis })
      if (scope === "workspace") yield* changed(name)
    }),
    resume: Effect.fnUntraced(function* (scope, name) {
      yield* control.resume(scope, name)
      if (scope === "workspace") yield* changed(name)
    }),
    pauses: control.pauses
  })
})

/** Number of eligible entries of each repository and priority whose position is computed. */
const maxTurns = 200

/** Positions as of now: a scheduler also considers which repository it served last. */
const readTurns = ({ eligible }: QueueSnapshot): ReadonlyMap<string, number> =>
  new Map(orderByUrgency(eligible, eligible.length, new Map()).map(({ id }, index) => [id, index + 1]))

const toViews = Effect.fnUntraced(function* (entries: ReadonlyArray<Entry>) {
  const queue = yield* Queue
  const now = yield* Clock.currentTimeMillis
  const limits = workspaceLimits((yield* ConfigStore).current().document.queue)
  const pauses = yield* (yield* QueueControl).pauses
  const workspaces = new Set(entries.map(({ workspace }) => workspace))
  const read = new Map(
    yield* Effect.forEach(workspaces, (workspace) =>
      Effect.map(
        queue.loadSnapshot(workspace, now, Math.max(maxTurns, maxInFlight(limits))),
        (snapshot) => [workspace, { inFlight: snapshot.inFlight, turns: readTurns(snapshot) }] as const
      )
    )
  )
  return entries.map((entry): EntryView => {
    const pause = findPause(pauses, "workspace", entry.workspace)
    const { inFlight = [], turns } = read.get(entry.workspace) ?? {}
    const around = { now, pause, inFlight, limits, turns }
    return { entry, position: toPosition(entry, around) }
  })
})

/** Number of entries whose texts one request reads: they are stored outside of the memory of nodes. */
const maxSearched = 1000

const list = Effect.fnUntraced(function* ({ terms = [], ...filter }: SearchedList) {
  const control = yield* QueueControl
  if (terms.length === 0) {
    const { entries, next } = yield* control.list(filter)
    return { items: yield* toViews(entries), next }
  }
  const { entries, next } = yield* control.list({ ...filter, limit: maxSearched })
  const found = entries.filter(({ change, workspace }) => hasTerms(searchText(change, workspace, change.head), terms))
  const listed = found.slice(0, filter.limit)
  return { items: yield* toViews(listed), next: found.length > filter.limit ? listed.at(-1)?.id : next }
})

const heldBatches = Effect.fnUntraced(function* (workspace: string | undefined, limit: number) {
  const unfinished = yield* (yield* Batches).unfinished({ limit })
  return unfinished.flatMap(({ batch }) =>
    batch.entryId === undefined && (workspace ?? batch.workspace) === batch.workspace ? [batch] : []
  )
})

const show = Effect.fnUntraced(function* (id: string): Effect.fn.Return<QueueMatch | undefined, Failure, Records> {
  const entry = yield* (yield* Queue).get(id)
  if (entry !== undefined) {
    const [one] = yield* toViews([entry])
    return one === undefined ? undefined : { _tag: "Entry", ...one }
  }
  const batches = yield* Batches
  const batch = yield* batches.get(id)
  if (batch === undefined) return undefined
  return { _tag: "Batch", batch, members: (yield* batches.members(id)).length }
})

/** Settles the receipts of ended entries and notifies the workers of running ones. */
const follow = Effect.fnUntraced(function* (
  { changed, stopping }: QueueListeners,
  { ended, stopping: running }: Cancelled,
  reason: Reason
) {
  const receipts = yield* Receipts
  const now = yield* Clock.currentTimeMillis
  for (const entry of running) yield* stopping(entry.id, entry.cancelRequested ?? reason)
  for (const entry of ended) {
    yield* receipts.settle(entry.events, { outcome: "cancelled", reason }, now)
    yield* changed(entry.workspace)
  }
})

const cancel = Effect.fnUntraced(function* (
  listeners: QueueListeners,
  id: string,
  reason: Reason
): Effect.fn.Return<CancelResult, Failure, Records> {
  if ((yield* (yield* Queue).get(id)) === undefined) return yield* cancelBatch(listeners, id, reason)
  const cancelled = yield* (yield* QueueControl).cancelEntry(id, reason)
  yield* follow(listeners, cancelled, reason)
  return cancelled.ended.length > 0 ? "cancelled" : cancelled.stopping.length > 0 ? "stopping" : "over"
})

const cancelBatch = Effect.fnUntraced(function* (
  listeners: QueueListeners,
  id: string,
  reason: Reason
): Effect.fn.Return<CancelResult, Failure, Records> {
  const batches = yield* Batches
  const batch = yield* batches.get(id)
  if (batch === undefined) return "unknown"
  if (batchLifecycle.isTerminal(batch.status)) return "over"
  if (batch.entryId !== undefined) return yield* cancel(listeners, batch.entryId, reason)
  const now = yield* Clock.currentTimeMillis
  const events = (yield* batches.members(id)).map(({ eventId }) => eventId)
  yield* (yield* Receipts).settle(events, { outcome: "cancelled", reason }, now)
  yield* batches.follow(id, { status: "cancelled", reason }, now)
  return "cancelled"
})

const retry = Effect.fnUntraced(function* (
  { changed }: QueueListeners,
  id: string
): Effect.fn.Return<Retried, Failure, Records> {
  const entryId = (yield* (yield* Batches).get(id))?.entryId ?? id
  const entry = yield* (yield* Queue).get(entryId)
  if (entry === undefined) return "unknown"
  const result = yield* tryAgain(entry, yield* Clock.currentTimeMillis)
  if (result !== "not_dead") yield* changed(entry.workspace)
  return result
})
