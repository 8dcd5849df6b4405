/** A table of entries in memory, with an index for each lookup. */
import { isTerminal } from "../domain/Entry.ts"
import type { Entry, EntryStatus } from "../domain/Entry.ts"
import { noEntries } from "./EntryTable.ts"
import type { EntryTable } from "./EntryTable.ts"
import * as OldestFirst from "./OldestFirst.ts"

const isPending = (status: EntryStatus) => status === "waiting" || status === "ready"

export const make = (): EntryTable => {
  const entries = new Map<string, Entry>()
  const ofEvent = new Map<string, string>()
  const nextOf = new Map<string, string>()
  const runningOf = new Map<string, string>()
  const activeIn = new Map<string, Set<string>>()
  const pendingIn = new Map<string, number>()
  const ended = new Set<string>()
  const counts = { ...noEntries }

  const get = (id: string | undefined) => (id === undefined ? undefined : entries.get(id))
  const all = (ids: Iterable<string>) => [...ids].flatMap((id) => entries.get(id) ?? [])

  const byAge = OldestFirst.make(
    ({ id, admittedAt }) => {
      const entry = entries.get(id)
      return entry?.status === "waiting" && entry.admittedAt === admittedAt
    },
    () => counts.waiting
  )

  const count = (entry: Entry, by: 1 | -1) => {
    counts[entry.status] += by
    if (isPending(entry.status)) {
      const pending = (pendingIn.get(entry.workspace) ?? 0) + by
      if (pending === 0) pendingIn.delete(entry.workspace)
      else pendingIn.set(entry.workspace, pending)
    }
  }

  const unindex = (entry: Entry) => {
    count(entry, -1)
    if (isPending(entry.status)) nextOf.delete(entry.targetKey)
    if (entry.status === "running") runningOf.delete(entry.targetKey)
  }

  const index = (entry: Entry) => {
    count(entry, 1)
    if (isPending(entry.status)) nextOf.set(entry.targetKey, entry.id)
    if (entry.status === "waiting") byAge.add({ id: entry.id, admittedAt: entry.admittedAt })
    if (entry.status === "running") runningOf.set(entry.targetKey, entry.id)
    const active = activeIn.get(entry.workspace)
    if (!isTerminal(entry.status)) {
      if (active === undefined) activeIn.set(entry.workspace, new Set([entry.id]))
      else active.add(entry.id)
      return
    }
    ended.add(entry.id)
    active?.delete(entry.id)
    if (active?.size === 0) activeIn.delete(entry.workspace)
  }

  return {
    get,
    place: (targetKey) => ({ next: get(nextOf.get(targetKey)), running: get(runningOf.get(targetKey)) }),
    entryOf: (eventId) => ofEvent.get(eventId),
    active: (workspace) => all(activeIn.get(workspace) ?? []),
    workspaces: () => [...activeIn.keys()],
    running: () => all(runningOf.values()),
    waitingBefore: (admittedAt) => all(byAge.before(admittedAt).map((item) => item.id)),
    oldestWaiting: () => byAge.oldest()?.admittedAt,
    byStatus: () => ({ ...counts }),
    pending: (workspace) => (workspace === undefined ? counts.waiting + counts.ready : (pendingIn.get(workspace) ?? 0)),

    insert: (entry) => {
      entries.set(entry.id, entry)
      for (const event of entry.events) ofEvent.set(event, entry.id)
      index(entry)
    },
    update: (entry, from) => {
      entries.set(entry.id, entry)
      unindex(from)
      index(entry)
    },
    link: (eventId, entry) => {
      ofEvent.set(eventId, entry.id)
    },
    prune: ({ maxCount, before }, limit) => {
      const newestFirst = all(ended).toSorted((a, b) => b.admittedAt - a.admittedAt || (a.id < b.id ? 1 : -1))
      const removed = newestFirst.filter((entry, place) => place >= maxCount || entry.admittedAt < before).slice(-limit)
      for (const entry of removed) {
        entries.delete(entry.id)
        ended.delete(entry.id)
        count(entry, -1)
        for (const event of entry.events) ofEvent.delete(event)
      }
      return removed.length
    }
  }
}
