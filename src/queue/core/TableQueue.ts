/** Implements the queue over a table of entries. One write is one transaction. */
import { Context, Effect, Queue as Items, Schedule, Stream } from "effect"
import type { Entry } from "../../domain/Entry.ts"
import type { EntryTable } from "./EntryTable.ts"
import { Queue, QueueError } from "../Queue.ts"
import { QueueControl } from "../operator/QueueControl.ts"
import type { QueueLimits } from "./QueueLimits.ts"
import type { Replica } from "./Replica.ts"
import * as Steps from "./TableSteps.ts"
import type { Change, Person } from "../../domain/Change.ts"
import { isStorable, toStorable } from "../../domain/Text.ts"
import type { QueueAdmission } from "../Queue.ts"

/**
 * Repairs texts before they are stored in entries. Text that stores cannot represent is refused at the edge (domain/Text.ts), and repaired
 * here if it came another way. A store that returns another text than it was given loses the entry's position.
 */
const storable = (item: QueueAdmission): QueueAdmission => {
  const { change } = item
  return isStorable(item.eventId) && isStorableChange(change)
    ? item
    : { ...item, eventId: toStorable(item.eventId), change: repaired(change) }
}

const texts = (change: Change): ReadonlyArray<string | undefined> => [
  change.trigger,
  change.host,
  change.workspace,
  change.repo.fullName,
  change.repo.cloneUrl,
  change.repo.webUrl,
  change.target.branch,
  change.head,
  change.base,
  change.headRef,
  change.baseRef,
  change.title,
  change.description,
  change.url,
  change.author?.username,
  change.author?.name,
  change.requestedBy
]

const isStorableChange = (change: Change): boolean =>
  texts(change).every((text) => text === undefined || isStorable(text))

/** Repairs texts and records of texts; other values are unchanged. */
const repaired = <A extends Change | Change["repo"] | Change["target"] | Person>(value: A): A => {
  const found: A = { ...value }
  for (const key in found) {
    const field: unknown = found[key]
    if (typeof field === "string") Object.assign(found, { [key]: toStorable(field) })
    else if (isPart(field)) Object.assign(found, { [key]: repaired(field) })
  }
  return found
}

const isPart = (value: unknown): value is Change["repo"] => typeof value === "object" && value !== null

/** Entries ended or removed in one transaction, so that none takes long. */
const maxPerTransaction = 1000

export interface TableAccess {
  /** Runs `use` in a transaction, possibly shared; succeeds when its writes are durable. */
  readonly write: <A>(use: (table: EntryTable) => A) => Effect.Effect<A, QueueError>
  readonly read: <A>(use: (table: EntryTable) => A) => Effect.Effect<A, QueueError>
  readonly onPause: Replica["onPause"]
  /** See `QueueControl.compact`. */
  readonly compact: Effect.Effect<void, QueueError>
}

export const make = (access: TableAccess, limits: QueueLimits): Context.Context<Queue | QueueControl> =>
  Context.make(Queue, queue(access, limits)).pipe(Context.add(QueueControl, control(access)))

const queue = ({ write, read }: TableAccess, limits: QueueLimits): Queue["Service"] =>
  Queue.of({
    admit: (given) => {
      const items = given.map(storable)
      return Effect.flatMap(
        write((table) => Steps.admit(table, items, limits)),
        (result) => (result instanceof QueueError ? Effect.fail(result) : Effect.succeed(result))
      )
    },
    load: (workspace) => read((table) => table.active(workspace)),
    loadSnapshot: (workspace, now, places) => read((table) => table.snapshot(workspace, now, places)),
    workspaces: read((table) => table.workspaces()),
    get: (entryId) => read((table) => table.get(entryId)),
    withHead: (head) => read((table) => table.withHead(head)),
    promote: (entryIds, now) => write((table) => Steps.release(table, entryIds, now)),
    demote: (entryIds) => write((table) => Steps.withdraw(table, entryIds)),
    claim: (entryId, owner, now, ttlMillis) =>
      write((table) => Steps.claim(table, entryId, { owner, until: now + ttlMillis })),
    renew: (lease, until) => write((table) => Steps.renew(table, lease, until)),
    awaitModel: (lease) => write((table) => Steps.awaitModel(table, lease)),
    finish: (lease, how) => write((table) => Steps.finish(table, lease, how)),
    cancel: (target, reason) => write((table) => Steps.cancelTarget(table, target, reason)),
    reclaim: (now, lost) => write((table) => Steps.reclaim(table, now, lost)),

    expire: Effect.fnUntraced(function* (before, reason) {
      const all: Array<Entry> = []
      while (true) {
        const some = yield* write((table) => Steps.expire(table, before, reason, maxPerTransaction))
        all.push(...some)
        if (some.length < maxPerTransaction) return all
      }
    }),

    prune: Effect.fnUntraced(function* (keep) {
      let removed = 0
      while (true) {
        const some = yield* write((table) => table.prune(keep, maxPerTransaction))
        removed += some
        if (some < maxPerTransaction) return removed
        yield* Effect.yieldNow
      }
    }),
    stats: read((table) => ({ byStatus: table.byStatus(), oldestWaiting: table.oldestWaiting() }))
  })

/** Emits at the beginning, and when pauses may have changed since the last element. */
const pauseSignals = (onPause: TableAccess["onPause"]): Stream.Stream<void> =>
  Stream.callback<void>(
    (signals) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          const signal = (): void => void Items.offerUnsafe(signals, undefined)
          signal()
          return onPause(signal)
        }),
        (end) => Effect.sync(end)
      ),
    { bufferSize: 1, strategy: "sliding" }
  )

const control = ({ compact, onPause, write, read }: TableAccess): QueueControl["Service"] =>
  QueueControl.of({
    list: (filter) => read((table) => table.list(filter)),
    cancelEntry: (entryId, reason) => write((table) => Steps.cancelEntry(table, entryId, reason)),
    retry: (entryId, now) => write((table) => Steps.retry(table, entryId, now)),
    pause: (pause) => write((table) => table.setPause(pause.scope, pause.name, pause)),
    resume: (scope, name) => write((table) => table.setPause(scope, name, undefined)),
    pauses: read((table) => table.pauses()),
    replaceEnded: (entries) => write((table) => Steps.replaceEnded(table, entries)),
    compact,
    watchPauses: Stream.mapEffect(pauseSignals(onPause), () =>
      read((table) => table.pauses()).pipe(Effect.retry(Schedule.spaced("1 second")), Effect.orDie)
    )
  })
