/**
 * Table of entries in SQLite (schema: SqliteSchema.ts) with the changes of this process, the only writer of the file. A change is visible
 * to the next operation immediately and written later, a batch of operations as one transaction:
 *
 * ```
 * begin ──attempt…──▶ changes, to be written ──written──▶ on disk
 *                                            └─takeBack─▶ this batch and those after it are rolled back
 * ```
 */
import { Result } from "effect"
import { isTerminal } from "../domain/Entry.ts"
import type { Entry, EntryStatus } from "../domain/Entry.ts"
import { TargetKey } from "../domain/Keys.ts"
import { EntryIndex, tracked } from "./EntryIndex.ts"
import type { Tracked } from "./EntryIndex.ts"
import type { EntryTable } from "./EntryTable.ts"
import { isListed, toPage } from "./ListPage.ts"
import { pauseKey } from "./QueueControl.ts"
import type { ListFilter, ListPage } from "./QueueControl.ts"
import * as SqliteChanges from "./SqliteChanges.ts"
import type { Changed, SqliteChange } from "./SqliteChanges.ts"
import type { EndedRow, SqliteRows } from "./SqliteRows.ts"

export interface WriteBatch {
  /** Returns the changes to write, after all operations were attempted. */
  readonly changes: () => ReadonlyArray<SqliteChange>
}

export interface SqliteTable extends EntryTable {
  readonly begin: () => WriteBatch
  /** Runs an operation in the newest batch. One that throws has changed nothing, and the error is the result. */
  readonly attempt: <A>(operation: (table: EntryTable) => A) => Result.Result<A, unknown>
  readonly written: (batch: WriteBatch) => void
  /** Does nothing if it was rolled back together with an earlier batch. */
  readonly takeBack: (batch: WriteBatch) => void
}

interface Unwritten extends WriteBatch {
  /** Undo steps, newest last. */
  readonly undo: Array<() => void>
  readonly entries: Map<string, Changed>
  readonly pauses: Map<string, SqliteChange>
}

/** Reads all entries once. Throws the errors of `rows`. */
export const make = (rows: SqliteRows): SqliteTable => {
  const index = indexOf(rows)
  const ofEvent = new Map<string, string>()
  for (const { id, events } of rows.events()) for (const event of events) ofEvent.set(event, id)
  const pauses = new Map(rows.pauses().map((pause) => [pauseKey(pause.scope, pause.name), pause]))

  const batches: Array<Unwritten> = []
  /** True while an operation runs, whose changes are written. */
  let operating = false
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
  /** Replaces or removes an indexed entry. */
  const change = (id: string, from: Entry | EndedRow, to: Entry | undefined, isRewritten: boolean): void => {
    const { entries, undo } = newest()
    const before = entries.get(id)
    index.apply(own(from), to && tracked(to))
    entries.set(id, {
      entry: to,
      isNew: before?.isNew === true,
      isRewritten: isRewritten || before?.isRewritten === true
    })
    undo.push(() => {
      index.apply(to && own(to), tracking(from))
      put(entries, id, before)
    })
  }
  /** Returns the indexed form of an entry. */
  const own = (entry: Entry | EndedRow): Tracked => {
    if (!("change" in entry) || isTerminal(entry.status)) return ended(entry.status)
    const found = index.find(entry.id, entry.targetKey)
    if (found === undefined) throw new Error(`entry ${entry.id} is ${entry.status}, but nothing of its target is`)
    return found
  }

  const get = (id: string | undefined): Entry | undefined => {
    if (id === undefined) return undefined
    for (let at = batches.length - 1; at >= 0; at--) {
      const changed = batches[at]?.entries.get(id)
      if (changed !== undefined) return changed.entry
    }
    try {
      return rows.get(id)
    } catch (cause) {
      return quarantine(id, cause instanceof Error ? cause.message : String(cause))
    }
  }
  /** Ends an unreadable entry with the reason, so that it blocks no later one. Written when an operation reads it. */
  const quarantine = (id: string, why: string): Entry | undefined => {
    const entry = rows.unreadable(id, why.slice(0, 200))
    const active = entry && index.find(id, entry.targetKey)
    if (entry !== undefined && active !== undefined && operating) {
      change(id, { ...entry, status: active.status }, entry, true)
    }
    return entry
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
    expiring: (before) => all(index.expiring(before)),
    oldestWaiting: () => index.oldestWaiting(),
    byStatus: () => ({ ...index.counts }),
    pending: (workspace) => index.pending(workspace),
    list: (filter) => page(filter, rows, unwritten()),
    pauses: () => [...pauses.values()],
    setPause: (scope, name, to) => {
      const key = pauseKey(scope, name)
      set(pauses, key, to)
      set(newest().pauses, key, SqliteChanges.pause(scope, name, to))
    },

    insert: (entry) => {
      const { entries, undo } = newest()
      index.apply(undefined, tracked(entry))
      entries.set(entry.id, { entry, isNew: true, isRewritten: true })
      for (const event of entry.events) ofEvent.set(event, entry.id)
      // One closure, because a busy queue creates one for each admission, and calls it only if a write fails.
      undo.push(() => {
        index.apply(own(entry), undefined)
        entries.delete(entry.id)
        for (const event of entry.events) ofEvent.delete(event)
      })
    },
    update: (entry, from) =>
      change(entry.id, from, entry, entry.change !== from.change || entry.events !== from.events),
    link: (eventId, entryId) => set(ofEvent, eventId, entryId),
    prune: (keep, limit) => {
      const changed = unwritten()
      const removed = rows.prunable(keep, limit).filter(({ id }) => !changed.has(id))
      for (const entry of removed) {
        const { id, events } = entry
        for (const event of events) if (ofEvent.get(event) === id) set(ofEvent, event, undefined)
        change(id, entry, undefined, false)
      }
      return removed.length
    }
  }

  return {
    ...table,
    begin: () => {
      const [entries, paused] = [new Map<string, Changed>(), new Map<string, SqliteChange>()]
      const changes = () => [...SqliteChanges.toChanges(entries), ...paused.values()]
      const batch: Unwritten = { changes, undo: [], entries, pauses: paused }
      batches.push(batch)
      return batch
    },
    attempt: (operation) => {
      const { undo } = newest()
      const undoable = undo.length
      operating = true
      const result = Result.try({
        try: () => operation(table),
        catch: (cause) => {
          undoTo(undo, undoable)
          return cause
        }
      })
      operating = false
      return result
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
    // No release creates two for one target; the owner of the file ends the older ones when it opens it (endOlderTwins).
    if (entry.status !== "running" && index.next(entry.targetKey) !== undefined) continue
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

const page = (filter: ListFilter, rows: SqliteRows, changed: ReadonlyMap<string, Changed>): ListPage => {
  const stored = rows.list({ ...filter, limit: filter.limit + changed.size + 1 }).filter(({ id }) => !changed.has(id))
  const others = [...changed.values()].flatMap(({ entry }) => entry ?? []).filter((entry) => isListed(filter, entry))
  return toPage([...stored, ...others], filter.limit)
}

const tracking = (entry: Entry | EndedRow): Tracked => ("change" in entry ? tracked(entry) : ended(entry.status))

/** Returns the index form of an ended entry, of which only the status is indexed. */
const ended = (status: EntryStatus): Tracked => ({ ...forgotten, status })
const forgotten = {
  id: "",
  workspace: "",
  targetKey: TargetKey.make(""),
  repo: "",
  priority: 0,
  admittedAt: 0,
  dueAt: 0,
  expires: false,
  past: false
}
