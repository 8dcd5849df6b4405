/**
 * What a store within this process gives the queue: a table of entries, read and written synchronously, with the few lookups
 * that the transitions need. Each of them costs the same however many entries of other targets and workspaces there are.
 */
import type { Entry, EntryStatus } from "../domain/Entry.ts"
import type { ExpiryCutoffs } from "./ExpiryCutoffs.ts"
import type { Survey } from "./Plan.ts"
import type { ListFilter, ListPage, Pause } from "./QueueControl.ts"
import type { EntryPosition } from "./Transitions.ts"

export interface EntryTable {
  readonly get: (entryId: string) => Entry | undefined
  readonly place: (targetKey: string) => EntryPosition
  /** The entry that answers for an event, also when it has ended. */
  readonly entryOf: (eventId: string) => string | undefined
  /** Active entries of a workspace, in order of creation. */
  readonly active: (workspace: string) => ReadonlyArray<Entry>
  readonly survey: (workspace: string, now: number, places: number) => Survey
  readonly workspaces: () => ReadonlyArray<string>
  readonly running: () => ReadonlyArray<Entry>
  /** Those that wait, may expire and were admitted before the time of their workspace. */
  readonly expiring: (before: ExpiryCutoffs) => ReadonlyArray<Entry>
  readonly oldestWaiting: () => number | undefined
  readonly byStatus: () => Readonly<Record<EntryStatus, number>>
  /** Entries that wait or are ready, in a workspace or in all. */
  readonly pending: (workspace?: string) => number
  readonly list: (filter: ListFilter) => ListPage
  readonly pauses: () => ReadonlyArray<Pause>
  /** Undefined: not paused from now on. */
  readonly setPause: (scope: Pause["scope"], name: string, pause: Pause | undefined) => void
  /** A new entry, waiting and as it was opened (Transitions.ts), with its events. */
  readonly insert: (entry: Entry) => void
  /** Which entry answers for its events is for `link` to say. */
  readonly update: (entry: Entry, from: Entry) => void
  /** From now on this entry answers for the event. */
  readonly link: (eventId: string, entryId: string) => void
  /** Removes at most `limit` ended entries, oldest first, with their events; answers how many. */
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
