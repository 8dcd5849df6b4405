/**
 * The table of entries as operations see it: read and written synchronously, with the few lookups that the transitions need. The cost of
 * each is independent of the number of entries of other targets and workspaces.
 */
import type { Entry, EntryStatus } from "../../domain/Entry.ts"
import type { TargetKey } from "../../domain/Keys.ts"
import type { ExpiryCutoffs } from "../ExpiryCutoffs.ts"
import type { QueueSnapshot } from "../Plan.ts"
import type { ListFilter, ListPage, Pause } from "../operator/QueueControl.ts"
import type { EntryOfHead } from "../Queue.ts"
import type { EntryPosition } from "./Transitions.ts"

export interface EntryTable {
  readonly get: (entryId: string) => Entry | undefined
  readonly position: (targetKey: TargetKey) => EntryPosition
  /** Returns the entry that settles an event, including ended entries. */
  readonly entryOf: (eventId: string) => string | undefined
  /** Returns the active entries of a workspace, in order of creation. */
  readonly active: (workspace: string) => ReadonlyArray<Entry>
  /** Returns the active entries of pull requests with this head. The only lookup that reads all active entries. */
  readonly withHead: (head: string) => ReadonlyArray<EntryOfHead>
  readonly snapshot: (workspace: string, now: number, places: number) => QueueSnapshot
  readonly workspaces: () => ReadonlyArray<string>
  readonly running: () => ReadonlyArray<Entry>
  /** Returns waiting entries that may expire and were admitted before the time of their workspace. */
  readonly expiring: (before: ExpiryCutoffs) => ReadonlyArray<Entry>
  readonly oldestWaiting: () => number | undefined
  readonly byStatus: () => Readonly<Record<EntryStatus, number>>
  /** Returns the number of waiting and ready entries in a workspace or in all. */
  readonly pending: (workspace?: string) => number
  readonly list: (filter: ListFilter) => ListPage
  readonly pauses: () => ReadonlyArray<Pause>
  /** Sets the pause; undefined removes it. */
  readonly setPause: (scope: Pause["scope"], name: string, pause: Pause | undefined) => void
  /** Inserts or replaces an entry, which settles its events from now on. */
  readonly put: (entry: Entry) => void
  /** Removes at most `limit` ended entries, oldest first, with their events; returns their number. */
  readonly prune: (keep: { readonly maxCount: number; readonly before: number }, limit: number) => number
}

export const noEntries: Readonly<Record<EntryStatus, number>> = {
  waiting: 0,
  ready: 0,
  running: 0,
  done: 0,
  superseded: 0,
  cancelled: 0,
  expired: 0,
  dead: 0
}
