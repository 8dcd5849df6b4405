/**
 * A table of entries in SQLite (its schema: SqliteSchema.ts), as this process, the only one that writes the file, has changed it. What
 * an operation changes holds for the next one at once and is written later, a batch of operations as one transaction:
 *
 * ```
 * begin ──attempt…──▶ changes, to be written ──written──▶ on disk
 *                                            └─takeBack─▶ as if this batch and those after it had not been
 * ```
 */
import { Result } from "effect"
import type { Entry } from "../domain/Entry.ts"
import { EntryIndex, tracked } from "./EntryIndex.ts"
import type { Tracked } from "./EntryIndex.ts"
import type { EntryTable } from "./EntryTable.ts"
import { isListed, pageOf } from "./ListPage.ts"
import { pauseKey } from "./QueueControl.ts"
import type { ListFilter, ListPage } from "./QueueControl.ts"
import * as SqliteChanges from "./SqliteChanges.ts"
import type { SqliteChange } from "./SqliteChanges.ts"
import type { SqliteRows } from "./SqliteRows.ts"

export interface Batch {
  readonly changes: ReadonlyArray<SqliteChange>
}

export interface SqliteTable extends EntryTable {
  readonly begin: () => Batch
  /** Runs an operation in the newest batch. One that throws has changed nothing, and what it threw is the answer. */
  readonly attempt: <A>(operation: (table: EntryTable) => A) => Result.Result<A, unknown>
  readonly written: (batch: Batch) => void
  /** Does nothing when it was taken back with one before it. */
  readonly takeBack: (batch: Batch) => void
}

interface Unwritten extends Batch {
  readonly changes: Array<SqliteChange>
  /** Newest last. */
  readonly undo: Array<() => void>
  /** Those that changed, as they are from then on; undefined: removed. */
  readonly entries: Map<string, Entry | undefined>
}

/** Reads all entries once. Throws what `rows` throws. */
export const make = (rows: SqliteRows): SqliteTable => {
  const index = indexOf(rows)
  const ofEvent = new Map<string, string>()
  for (const { id, events } of rows.events()) for (const event of events) ofEvent.set(event, id)
  const pauses = new Map(rows.pauses().map((pause) => [pauseKey(pause.scope, pause.name), pause]))

  const batches: Array<Unwritten> = []
  const newest = (): Unwritten => {
    const batch = batches.at(-1)
    if (batch === undefined) throw new Error("Nothing changes this table outside of a batch")
    return batch
  }
  const set = <K, V>(map: Map<K, V>, key: K, value: V | undefined): void => {
    const before = map.get(key)
    newest().undo.push(() => put(map, key, before))
    put(map, key, value)
  }
  /** An entry becomes another, comes or goes. */
  const change = (id: string, entry: Entry | undefined, from: Tracked | undefined, row: SqliteChange): void => {
    const { changes, entries, undo } = newest()
    const to = entry === undefined ? undefined : tracked(entry)
    const [known, before] = [entries.has(id), entries.get(id)]
    index.apply(from, to)
    entries.set(id, entry)
    changes.push(row)
    undo.push(() => {
      index.apply(to, from === undefined ? undefined : { ...from, past: false })
      if (known) entries.set(id, before)
      else entries.delete(id)
    })
  }

  const get = (id: string | undefined): Entry | undefined => {
    if (id === undefined) return undefined
    for (let at = batches.length - 1; at >= 0; at--) {
      const entries = batches[at]?.entries
      const entry = entries?.get(id)
      if (entry !== undefined || entries?.has(id) === true) return entry
    }
    return rows.get(id)
  }
  const all = (ids: Iterable<string>) => Array.from(ids, get).filter((entry) => entry !== undefined)
  const unwritten = () => new Map(batches.flatMap(({ entries }) => [...entries]))

  const table: EntryTable = {
    get,
    place: (targetKey) => ({ next: get(index.next(targetKey)), running: get(index.running(targetKey)) }),
    entryOf: (eventId) => ofEvent.get(eventId),
    active: (workspace) => all(index.active(workspace)),
    survey: (workspace, now, places) => ({
      paused: pauses.has(pauseKey("workspace", workspace)),
      ...index.survey(workspace, now, places)
    }),
    workspaces: () => index.workspaces(),
    running: () => all(index.allRunning()),
    expiring: (admittedBefore) => all(index.expiring(admittedBefore)),
    oldestWaiting: () => index.oldestWaiting(),
    byStatus: () => ({ ...index.counts }),
    pending: (workspace) => index.pending(workspace),
    list: (filter) => page(filter, rows, unwritten()),
    pauses: () => [...pauses.values()],
    setPause: (scope, name, to) => {
      set(pauses, pauseKey(scope, name), to)
      newest().changes.push(SqliteChanges.pause(scope, name, to))
    },

    insert: (entry) => {
      for (const event of entry.events) set(ofEvent, event, entry.id)
      change(entry.id, entry, undefined, SqliteChanges.insert(entry))
    },
    update: (entry, from) => change(entry.id, entry, tracked(from), SqliteChanges.update(entry, from)),
    link: (eventId, entryId) => set(ofEvent, eventId, entryId),
    prune: (keep, limit) => {
      const changed = unwritten()
      const removed = rows.prunable(keep, limit).filter(({ id }) => !changed.has(id))
      for (const { id, status, events } of removed) {
        for (const event of events) if (ofEvent.get(event) === id) set(ofEvent, event, undefined)
        change(id, undefined, { ...forgotten, status }, SqliteChanges.remove(id))
      }
      return removed.length
    }
  }

  return {
    ...table,
    begin: () => {
      const batch: Unwritten = { changes: [], undo: [], entries: new Map() }
      batches.push(batch)
      return batch
    },
    attempt: (operation) => {
      const { changes, undo } = newest()
      const [changed, undoable] = [changes.length, undo.length]
      return Result.try({
        try: () => operation(table),
        catch: (cause) => {
          changes.length = changed
          undoTo(undo, undoable)
          return cause
        }
      })
    },
    written: (batch) => {
      const at = batches.findIndex((other) => other === batch)
      if (at !== -1) batches.splice(at, 1)
    },
    takeBack: (batch) => {
      const at = batches.findIndex((other) => other === batch)
      if (at === -1) return
      for (const { undo } of batches.toReversed().slice(0, batches.length - at)) undoTo(undo, 0)
      batches.length = at
    }
  }
}

const indexOf = (rows: SqliteRows): EntryIndex => {
  const index = new EntryIndex()
  for (const { status, n } of rows.counts()) index.counts[status] = n
  for (const entry of rows.active()) {
    if (entry.status !== "running" && index.next(entry.targetKey) !== undefined) {
      throw new Error(`two entries of ${entry.targetKey} wait, which no release of the queue does`)
    }
    // They are counted already.
    index.counts[entry.status] -= 1
    index.apply(undefined, entry)
  }
  return index
}

const undoTo = (undo: Array<() => void>, length: number): void => {
  while (undo.length > length) undo.pop()?.()
}

const put = <K, V>(map: Map<K, V>, key: K, value: V | undefined): void => {
  if (value === undefined) map.delete(key)
  else map.set(key, value)
}

const page = (filter: ListFilter, rows: SqliteRows, changed: ReadonlyMap<string, Entry | undefined>): ListPage => {
  const stored = rows.list({ ...filter, limit: filter.limit + changed.size + 1 }).filter(({ id }) => !changed.has(id))
  const others = [...changed.values()].flatMap((entry) => entry ?? []).filter((entry) => isListed(filter, entry))
  return pageOf([...stored, ...others], filter.limit)
}

/** Of an entry that has ended only its status is known by heart. */
const forgotten = {
  id: "",
  workspace: "",
  targetKey: "",
  repo: "",
  priority: 0,
  admittedAt: 0,
  dueAt: 0,
  expires: false,
  past: false
}
