/** Implements a table of whole entries in memory, for the log over JetStream (journal/NatsReplica.ts). */
import type { Entry } from "../../domain/Entry.ts"
import { isTerminal } from "../../domain/Entry.ts"
import { EntryIndex, tracked } from "./EntryIndex.ts"
import type { Tracked } from "./EntryIndex.ts"
import type { EntryTable } from "./EntryTable.ts"
import { isListed, toPage } from "./ListPage.ts"
import { pauseKey } from "../operator/QueueControl.ts"
import type { ListFilter, ListPage, Pause } from "../operator/QueueControl.ts"

interface Row {
  readonly entry: Entry
  readonly tracked: Tracked
}

export interface MemoryTable extends EntryTable {
  /** Returns the entries that `prune` would remove, oldest last. */
  readonly prunable: (
    keep: { readonly maxCount: number; readonly before: number },
    limit: number
  ) => ReadonlyArray<Entry>
  /** Sets an entry and its events, whatever it was before; undefined removes it. */
  readonly set: (entryId: string, entry: Entry | undefined) => void
}

export const make = (): MemoryTable => {
  const rows = new Map<string, Row>()
  const ofEvent = new Map<string, string>()
  const index = new EntryIndex()
  const ended = new Set<string>()
  const pauses = new Map<string, Pause>()

  const get = (id: string | undefined) => (id === undefined ? undefined : rows.get(id)?.entry)
  const all = (ids: Iterable<string>) => [...ids].flatMap((id) => rows.get(id)?.entry ?? [])

  const put = (entry: Entry) => {
    const row = { entry, tracked: tracked(entry) }
    index.apply(rows.get(entry.id)?.tracked, row.tracked)
    rows.set(entry.id, row)
    if (isTerminal(entry.status)) ended.add(entry.id)
    else ended.delete(entry.id)
  }

  const forget = ({ events, id }: Entry) => {
    index.apply(rows.get(id)?.tracked, undefined)
    rows.delete(id)
    ended.delete(id)
    for (const event of events) if (ofEvent.get(event) === id) ofEvent.delete(event)
  }

  const prunable: MemoryTable["prunable"] = ({ maxCount, before }, limit) => {
    const newestFirst = all(ended).toSorted((a, b) => b.admittedAt - a.admittedAt || (a.id < b.id ? 1 : -1))
    return newestFirst.filter((entry, place) => place >= maxCount || entry.admittedAt < before).slice(-limit)
  }

  return {
    get,
    position: (targetKey) => ({ next: get(index.next(targetKey)), running: get(index.running(targetKey)) }),
    entryOf: (eventId) => ofEvent.get(eventId),
    active: (workspace) => all(index.active(workspace)),
    snapshot: (workspace, now, places) => ({
      paused: pauses.has(pauseKey("workspace", workspace)),
      ...index.snapshot(workspace, now, places)
    }),
    workspaces: () => index.workspaces(),
    running: () => all(index.allRunning()),
    expiring: (before) => all(index.expiring(before)),
    oldestWaiting: () => index.oldestWaiting(),
    byStatus: () => ({ ...index.counts }),
    pending: (workspace) => index.pending(workspace),
    list: (filter) => page(filter, rows),
    pauses: () => [...pauses.values()],
    setPause: (scope, name, pause) => {
      if (pause === undefined) pauses.delete(pauseKey(scope, name))
      else pauses.set(pauseKey(scope, name), pause)
    },

    put,
    prune: (keep, limit) => {
      const removed = prunable(keep, limit)
      removed.forEach(forget)
      return removed.length
    },
    prunable,
    set: (entryId, entry) => {
      const was = get(entryId)
      if (was !== undefined) forget(was)
      if (entry === undefined) return
      for (const event of entry.events) ofEvent.set(event, entryId)
      put(entry)
    }
  }
}

const page = (filter: ListFilter, rows: ReadonlyMap<string, Row>): ListPage =>
  toPage(
    Array.from(rows.values(), ({ entry }) => entry).filter((entry) => isListed(filter, entry)),
    filter.limit
  )
