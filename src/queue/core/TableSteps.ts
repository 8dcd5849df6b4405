/**
 * Steps of the queue on a table of entries: each looks entries up, applies a transition (Transitions.ts) and writes. A step is one transaction;
 * TableQueue.ts runs them.
 */
import { targetKey } from "../../domain/Change.ts"
import { isTerminal } from "../../domain/Entry.ts"
import type { Entry } from "../../domain/Entry.ts"
import { newId } from "../../domain/Ids.ts"
import type { TargetKey } from "../../domain/Keys.ts"
import type { Reason } from "../../domain/Reason.ts"
import type { EntryTable } from "./EntryTable.ts"
import type { ExpiryCutoffs } from "../ExpiryCutoffs.ts"
import { nothingCancelled } from "../Queue.ts"
import type { Cancelled, Finish, Lease, QueueAdmission, QueueAdmitted, QueueError, Renewal } from "../Queue.ts"
import type { Retried } from "../operator/QueueControl.ts"
import { full } from "./QueueLimits.ts"
import type { QueueLimits } from "./QueueLimits.ts"
import * as Transitions from "./Transitions.ts"

/** All or nothing. */
export const admit = (
  table: EntryTable,
  items: ReadonlyArray<QueueAdmission>,
  limits: QueueLimits
): ReadonlyArray<QueueAdmitted> | QueueError =>
  overLimit(table, items, limits) ?? items.map((item) => admitOne(table, item))

/** Returns the ids of the promoted entries. */
export const release = (table: EntryTable, entryIds: ReadonlyArray<string>, now: number): ReadonlyArray<string> =>
  entryIds.filter((id) => {
    const entry = table.get(id)
    return entry !== undefined && change(table, Transitions.promote(entry, table.position(entry.targetKey), now))
  })

export const withdraw = (table: EntryTable, entryIds: ReadonlyArray<string>): void => {
  for (const id of entryIds) {
    const entry = table.get(id)
    if (entry !== undefined) change(table, Transitions.demote(entry))
  }
}

/** Returns undefined if the entry is no longer ready. */
export const claim = (
  table: EntryTable,
  entryId: string,
  worker: { readonly owner: string; readonly until: number }
): { readonly lease: Lease; readonly entry: Entry } | undefined => {
  const entry = table.get(entryId)
  const claimed = entry && Transitions.claim(entry, table.position(entry.targetKey), worker)
  if (entry === undefined || claimed === undefined) return undefined
  table.put(claimed)
  return { lease: { entryId, token: claimed.token }, entry: claimed }
}

export const renew = (table: EntryTable, lease: Lease, until: number): Renewal => {
  const entry = held(table, lease)
  if (entry === undefined) return { _tag: "Lost" }
  table.put({ ...entry, leaseUntil: until })
  const reason = entry.cancelRequested
  return reason === undefined ? { _tag: "Kept" } : { _tag: "Cancelled", reason }
}

/** Returns false if the lease is lost. */
export const awaitModel = (table: EntryTable, lease: Lease): boolean => {
  const entry = held(table, lease)
  return entry !== undefined && change(table, Transitions.awaitModel(entry))
}

/** Returns false if the lease is lost. */
export const finish = (table: EntryTable, lease: Lease, how: Finish): boolean => {
  const entry = held(table, lease)
  if (entry === undefined) return false
  end(table, Transitions.finish(entry, table.position(entry.targetKey), how))
  return true
}

const held = (table: EntryTable, { entryId, token }: Lease): Entry | undefined => {
  const entry = table.get(entryId)
  return entry !== undefined && Transitions.holds(entry, token) ? entry : undefined
}

export const cancelTarget = (table: EntryTable, target: TargetKey, reason: Reason): Cancelled => {
  const { next, running } = table.position(target)
  const cancelled = [next, running].map((entry) => cancelOne(table, entry, reason))
  return { ended: cancelled.flatMap(({ ended }) => ended), stopping: cancelled.flatMap(({ stopping }) => stopping) }
}

export const cancelEntry = (table: EntryTable, entryId: string, reason: Reason): Cancelled =>
  cancelOne(table, table.get(entryId), reason)

export const reclaim = (table: EntryTable, now: number, lost: (owner: string) => boolean): ReadonlyArray<Entry> =>
  table
    .running()
    .filter((entry) => Transitions.isLost(entry, now, lost))
    .map((entry) => end(table, Transitions.reclaim(entry, table.position(entry.targetKey), now)))

/** Expires at most `max` entries. */
export const expire = (table: EntryTable, before: ExpiryCutoffs, reason: Reason, max: number): ReadonlyArray<Entry> =>
  table
    .expiring(before)
    .slice(0, max)
    .map((entry) => written(table, Transitions.expire(entry, reason)))

export const retry = (table: EntryTable, entryId: string, now: number): Retried => {
  const entry = table.get(entryId)
  if (entry === undefined) return "unknown"
  const retried = Transitions.retry(entry, table.position(entry.targetKey), now)
  if (typeof retried === "string") return retried
  table.put(retried)
  return "retried"
}

/** Returns how many of these entries are ended. */
export const replaceEnded = (
  table: EntryTable,
  entries: ReadonlyArray<Pick<Entry, "id" | "change" | "reason">>
): number => {
  let replaced = 0
  for (const { change: erased, id, reason } of entries) {
    const entry = table.get(id)
    if (entry === undefined || !isTerminal(entry.status)) continue
    table.put({ ...entry, change: erased, reason })
    replaced += 1
  }
  return replaced
}

const cancelOne = (table: EntryTable, from: Entry | undefined, reason: Reason): Cancelled => {
  const to = from === undefined ? undefined : Transitions.cancel(from, reason)
  if (from === undefined || to === undefined) return nothingCancelled
  table.put(to)
  return to.status === "cancelled" ? { ended: [to], stopping: [] } : { ended: [], stopping: [to] }
}

const written = (table: EntryTable, entry: Entry): Entry => {
  table.put(entry)
  return entry
}

const change = (table: EntryTable, to: Entry | undefined): boolean => {
  if (to !== undefined) table.put(to)
  return to !== undefined
}

const admitOne = (table: EntryTable, item: QueueAdmission): QueueAdmitted => {
  const knownId = table.entryOf(item.eventId)
  const known = knownId === undefined ? undefined : table.get(knownId)
  if (known !== undefined) {
    const superseded = known.status === "superseded" ? [item.eventId] : []
    return { entryId: known.id, status: "duplicate", dueAt: known.dueAt, superseded }
  }
  const target = targetKey(item.change)
  const step = Transitions.admit(table.position(target), item, newId, target)
  const { id: entryId, dueAt } = step.entry
  switch (step._tag) {
    case "Joined":
      table.put(step.entry)
      return { entryId, status: "coalesced", dueAt, superseded: [] }
    case "Replaced":
      table.put(step.superseded)
      break
  }
  table.put(step.entry)
  const superseded = step._tag === "Replaced" ? step.superseded.events : []
  return { entryId, status: dueAt > item.admittedAt ? "deferred" : "queued", dueAt, superseded }
}

const end = (table: EntryTable, step: Transitions.Ended): Entry => {
  table.put(step.entry)
  if (step._tag === "Yielded") table.put(step.to)
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
      return full({ _tag: "WorkspaceQueueFull", workspace, count: limits.perWorkspace })
    }
  }
  return table.pending() + opening.size > limits.total ? full({ _tag: "QueueFull", count: limits.total }) : undefined
}

/** Returns whether this admission alone adds a waiting entry. */
const opens = (table: EntryTable, item: QueueAdmission): boolean => {
  const knownId = table.entryOf(item.eventId)
  if (knownId !== undefined && table.get(knownId) !== undefined) return false
  const target = targetKey(item.change)
  return Transitions.admit(table.position(target), item, () => "", target)._tag === "Opened"
}
