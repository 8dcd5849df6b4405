/** A table of entries in memory, with an index for each lookup. */
import type { Entry } from "../domain/Entry.ts"
import { noEntries } from "./EntryTable.ts"
import type { EntryTable } from "./EntryTable.ts"
import { Heap } from "./Heap.ts"
import { scheduled } from "./Plan.ts"
import type { ListFilter, ListPage, Pause } from "./QueueControl.ts"
import { Schedule } from "./Schedule.ts"

/** Ended entries that are remembered between two runs of retention: in memory, history has a bound of its own. */
const heldEnded = 5000

const isPending = ({ status }: Entry) => status === "waiting" || status === "ready"

export const make = (): EntryTable => {
  const entries = new Map<string, Entry>()
  const ofEvent = new Map<string, string>()
  const nextOf = new Map<string, string>()
  const runningOf = new Map<string, string>()
  const schedule = new Schedule()
  const ended = new Set<string>()
  const counts = { ...noEntries }
  const pauses = new Map<string, Pause>()

  const get = (id: string | undefined) => (id === undefined ? undefined : entries.get(id))
  const all = (ids: Iterable<string>) => [...ids].flatMap((id) => entries.get(id) ?? [])

  const waitingByAge = () =>
    new Heap<Entry>(
      (a, b) => a.admittedAt - b.admittedAt,
      (entry) => entry.status === "waiting" && entries.get(entry.id) === entry,
      () => counts.waiting
    )
  const byAge = waitingByAge()
  const expiring = waitingByAge()

  const unindex = (entry: Entry) => {
    counts[entry.status] -= 1
    if (isPending(entry)) nextOf.delete(entry.targetKey)
    if (entry.status === "running") runningOf.delete(entry.targetKey)
    ended.delete(entry.id)
  }

  const index = (entry: Entry) => {
    entries.set(entry.id, entry)
    counts[entry.status] += 1
    if (isPending(entry)) nextOf.set(entry.targetKey, entry.id)
    if (entry.status === "running") runningOf.set(entry.targetKey, entry.id)
    if (entry.status === "waiting") {
      byAge.add(entry)
      if (entry.expires) expiring.add(entry)
    }
    const active = scheduled(entry)
    if (active !== undefined) schedule.put(entry.workspace, active)
    else {
      schedule.remove(entry.workspace, entry.id)
      ended.add(entry.id)
      const [oldest] = ended
      if (ended.size > heldEnded) forget(get(oldest))
    }
  }

  const forget = (entry: Entry | undefined) => {
    if (entry === undefined) return
    entries.delete(entry.id)
    ended.delete(entry.id)
    counts[entry.status] -= 1
    for (const event of entry.events) ofEvent.delete(event)
  }

  return {
    get,
    place: (targetKey) => ({ next: get(nextOf.get(targetKey)), running: get(runningOf.get(targetKey)) }),
    entryOf: (eventId) => ofEvent.get(eventId),
    active: (workspace) => all(schedule.ids(workspace).toSorted()),
    survey: (workspace, now, places) => ({
      paused: pauses.has(`workspace:${workspace}`),
      ...schedule.survey(workspace, now, places)
    }),
    workspaces: () => schedule.workspaces(),
    running: () => all(runningOf.values()),
    expiring: (admittedBefore) => {
      const found: Array<Entry> = []
      for (
        let next = expiring.first();
        next !== undefined && next.admittedAt < admittedBefore;
        next = expiring.first()
      ) {
        found.push(next)
        expiring.take()
      }
      // They stay until the caller changes them.
      for (const entry of found) expiring.add(entry)
      return found
    },
    oldestWaiting: () => byAge.first()?.admittedAt,
    byStatus: () => ({ ...counts }),
    pending: (workspace) => (workspace === undefined ? counts.waiting + counts.ready : schedule.pending(workspace)),
    list: (filter) => page(filter, entries),
    pauses: () => [...pauses.values()],
    setPause: (scope, name, pause) => {
      if (pause === undefined) pauses.delete(`${scope}:${name}`)
      else pauses.set(`${scope}:${name}`, pause)
    },

    insert: (entry) => {
      for (const event of entry.events) ofEvent.set(event, entry.id)
      index(entry)
    },
    update: (entry, from) => {
      unindex(from)
      index(entry)
    },
    link: (eventId, entry) => {
      ofEvent.set(eventId, entry.id)
    },
    prune: ({ maxCount, before }, limit) => {
      const newestFirst = all(ended).toSorted((a, b) => b.admittedAt - a.admittedAt || (a.id < b.id ? 1 : -1))
      const removed = newestFirst.filter((entry, place) => place >= maxCount || entry.admittedAt < before).slice(-limit)
      removed.forEach(forget)
      return removed.length
    }
  }
}

const page = (
  { workspace, statuses, targetKey, after, limit }: ListFilter,
  entries: ReadonlyMap<string, Entry>
): ListPage => {
  const found = [...entries.values()]
    .filter(
      (entry) =>
        (after === undefined || entry.id > after) &&
        (workspace === undefined || entry.workspace === workspace) &&
        (targetKey === undefined || entry.targetKey === targetKey) &&
        (statuses === undefined || statuses.includes(entry.status))
    )
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
  return { entries: found.slice(0, limit), next: found.length > limit ? found[limit - 1]?.id : undefined }
}
