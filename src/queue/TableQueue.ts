/** Implements the queue over a table of entries: looks up, applies the transitions, writes. One write is one transaction. */
import { Context, Effect } from "effect"
import { targetKey } from "../domain/Change.ts"
import type { Entry } from "../domain/Entry.ts"
import { newId } from "../domain/Ids.ts"
import type { EntryTable } from "./EntryTable.ts"
import { nothingCancelled, Queue, QueueError } from "./Queue.ts"
import type { QueueAdmission, QueueAdmitted, Cancelled, Renewal } from "./Queue.ts"
import { QueueControl } from "./QueueControl.ts"
import type { Retried } from "./QueueControl.ts"
import { storable } from "./Storable.ts"
import * as Transitions from "./Transitions.ts"

/** Maximum number of waiting entries (`queue.limits`); admitting more is refused as `full`. */
export interface QueueLimits {
  readonly perWorkspace: number
  readonly total: number
}

/** Entries ended or removed in one transaction, so that none takes long. */
const atOnce = 1000

export interface TableAccess {
  /** Runs `use` in a transaction, possibly shared; succeeds when its writes are durable. */
  readonly write: <A>(use: (table: EntryTable) => A) => Effect.Effect<A, QueueError>
  readonly read: <A>(use: (table: EntryTable) => A) => Effect.Effect<A, QueueError>
}

export const make = (access: TableAccess, limits: QueueLimits): Context.Context<Queue | QueueControl> =>
  Context.make(Queue, queue(access, limits)).pipe(Context.add(QueueControl, control(access)))

const queue = ({ write, read }: TableAccess, limits: QueueLimits): Queue["Service"] =>
  Queue.of({
    admit: (given) => {
      const items = given.map(storable)
      return Effect.flatMap(
        write((table): ReadonlyArray<QueueAdmitted> | QueueError => {
          const full = overLimit(table, items, limits)
          return full ?? items.map((item) => admit(table, item))
        }),
        (answer) => (answer instanceof QueueError ? Effect.fail(answer) : Effect.succeed(answer))
      )
    },

    load: (workspace) => read((table) => table.active(workspace)),
    survey: (workspace, now, places) => read((table) => table.survey(workspace, now, places)),
    workspaces: read((table) => table.workspaces()),
    get: (entryId) => read((table) => table.get(entryId)),

    release: (entryIds, now) =>
      write((table) =>
        entryIds.filter((id) => {
          const entry = table.get(id)
          return (
            entry !== undefined && change(table, entry, Transitions.release(entry, table.place(entry.targetKey), now))
          )
        })
      ),

    withdraw: (entryIds) =>
      write((table) => {
        for (const id of entryIds) {
          const entry = table.get(id)
          if (entry !== undefined) change(table, entry, Transitions.withdraw(entry))
        }
      }),

    claim: (entryId, owner, now, ttlMillis) =>
      write((table) => {
        const entry = table.get(entryId)
        if (entry === undefined) return undefined
        const claimed = Transitions.claim(entry, table.place(entry.targetKey), { owner, until: now + ttlMillis })
        if (claimed === undefined) return undefined
        table.update(claimed, entry)
        return { lease: { entryId, token: claimed.token }, entry: claimed }
      }),

    renew: ({ entryId, token }, until) =>
      write((table): Renewal => {
        const entry = table.get(entryId)
        if (entry === undefined || !Transitions.holds(entry, token)) return { _tag: "Lost" }
        table.update({ ...entry, leaseUntil: until }, entry)
        const reason = entry.cancelRequested
        return reason === undefined ? { _tag: "Kept" } : { _tag: "Cancelled", reason }
      }),

    finish: ({ entryId, token }, how) =>
      write((table) => {
        const entry = table.get(entryId)
        if (entry === undefined || !Transitions.holds(entry, token)) return false
        end(table, entry, Transitions.finish(entry, table.place(entry.targetKey), how))
        return true
      }),

    cancel: (target, reason) =>
      write((table) => {
        const { next, running } = table.place(target)
        const cancelled = [next, running].map((entry) => cancel(table, entry, reason))
        return {
          ended: cancelled.flatMap(({ ended }) => ended),
          stopping: cancelled.flatMap(({ stopping }) => stopping)
        }
      }),

    reclaim: (now, lost) =>
      write((table) =>
        table
          .running()
          .filter((entry) => Transitions.isLost(entry, now, lost))
          .map((entry) => end(table, entry, Transitions.reclaim(entry, table.place(entry.targetKey), now)))
      ),

    expire: Effect.fnUntraced(function* (before, reason) {
      const all: Array<Entry> = []
      while (true) {
        const some = yield* write((table) =>
          table
            .expiring(before)
            .slice(0, atOnce)
            .map((entry) => written(table, Transitions.expire(entry, reason), entry))
        )
        all.push(...some)
        if (some.length < atOnce) return all
      }
    }),

    prune: Effect.fnUntraced(function* (keep) {
      let removed = 0
      while (true) {
        const some = yield* write((table) => table.prune(keep, atOnce))
        removed += some
        if (some < atOnce) return removed
        yield* Effect.yieldNow
      }
    }),
    stats: read((table) => ({ byStatus: table.byStatus(), oldestWaiting: table.oldestWaiting() }))
  })

const control = ({ write, read }: TableAccess): QueueControl["Service"] =>
  QueueControl.of({
    list: (filter) => read((table) => table.list(filter)),
    cancelEntry: (entryId, reason) => write((table) => cancel(table, table.get(entryId), reason)),
    retry: (entryId, now) =>
      write((table): Retried => {
        const entry = table.get(entryId)
        if (entry === undefined) return "unknown"
        const retried = Transitions.retry(entry, table.place(entry.targetKey), now)
        if (typeof retried === "string") return retried
        table.update(retried, entry)
        return "retried"
      }),
    pause: (pause) => write((table) => table.setPause(pause.scope, pause.name, pause)),
    resume: (scope, name) => write((table) => table.setPause(scope, name, undefined)),
    pauses: read((table) => table.pauses())
  })

const cancel = (table: EntryTable, from: Entry | undefined, reason: string): Cancelled => {
  const to = from === undefined ? undefined : Transitions.cancel(from, reason)
  if (from === undefined || to === undefined) return nothingCancelled
  table.update(to, from)
  return to.status === "cancelled" ? { ended: [to], stopping: [] } : { ended: [], stopping: [to] }
}

const written = (table: EntryTable, entry: Entry, from: Entry): Entry => {
  table.update(entry, from)
  return entry
}

const change = (table: EntryTable, from: Entry, to: Entry | undefined): boolean => {
  if (to !== undefined) table.update(to, from)
  return to !== undefined
}

const admit = (table: EntryTable, item: QueueAdmission): QueueAdmitted => {
  const knownId = table.entryOf(item.eventId)
  const known = knownId === undefined ? undefined : table.get(knownId)
  if (known !== undefined) {
    const superseded = known.status === "superseded" ? [item.eventId] : []
    return { entryId: known.id, status: "duplicate", dueAt: known.dueAt, superseded }
  }
  const target = targetKey(item.change)
  const step = Transitions.admit(table.place(target), item, newId, target)
  const { id: entryId, dueAt } = step.entry
  switch (step._tag) {
    case "Joined":
      table.update(step.entry, step.from)
      table.link(item.eventId, step.entry.id)
      return { entryId, status: "coalesced", dueAt, superseded: [] }
    case "Replaced":
      table.update(step.superseded, step.from)
      break
  }
  table.insert(step.entry)
  const superseded = step._tag === "Replaced" ? step.superseded.events : []
  return { entryId, status: dueAt > item.admittedAt ? "deferred" : "queued", dueAt, superseded }
}

const end = (table: EntryTable, from: Entry, step: Transitions.Ended): Entry => {
  table.update(step.entry, from)
  if (step._tag === "Yielded") {
    table.update(step.to, step.toFrom)
    for (const event of from.events) table.link(event, step.to.id)
  }
  return step.entry
}

/** Refuses a call that would leave more entries waiting than allowed; joining and replacing are always allowed. */
const overLimit = (
  table: EntryTable,
  items: ReadonlyArray<QueueAdmission>,
  limits: QueueLimits
): QueueError | undefined => {
  const mightExceed = (pending: number, limit: number) => pending + items.length > limit
  if (
    !mightExceed(table.pending(), limits.total) &&
    !items.some(({ change: { workspace } }) => mightExceed(table.pending(workspace), limits.perWorkspace))
  ) {
    return undefined
  }
  const workspaces = new Set(items.map((item) => item.change.workspace))
  const opening = new Map(items.filter((item) => opens(table, item)).map((item) => [targetKey(item.change), item]))
  if (opening.size === 0) return undefined
  for (const workspace of workspaces) {
    const count = [...opening.values()].filter((item) => item.change.workspace === workspace).length
    if (count > 0 && table.pending(workspace) + count > limits.perWorkspace) {
      return full(`workspace ${workspace}`, limits.perWorkspace, "queue.limits.per_workspace")
    }
  }
  return table.pending() + opening.size > limits.total
    ? full("the service", limits.total, "queue.limits.total")
    : undefined
}

/** Returns whether this admission alone adds a waiting entry. */
const opens = (table: EntryTable, item: QueueAdmission): boolean => {
  const knownId = table.entryOf(item.eventId)
  if (knownId !== undefined && table.get(knownId) !== undefined) return false
  const target = targetKey(item.change)
  return Transitions.admit(table.place(target), item, () => "", target)._tag === "Opened"
}

export const full = (what: string, limit: number, setting: string): QueueError =>
  new QueueError({
    reason: "full",
    message: `the queue is full: ${limit} reviews of ${what} wait. Try again later, or raise ${setting}.`
  })
