/** All rows of the queue by id and by event, with the index that decisions go by (EntryIndex.ts). */
import { numberOrBranch } from "../../domain/Change.ts"
import type { Entry } from "../../domain/Entry.ts"
import { isTerminal } from "../../domain/Entry.ts"
import { isMergeable } from "../../domain/Kinds.ts"
import { EntryIndex } from "./EntryIndex.ts"
import { pauseKey } from "../operator/QueueControl.ts"
import type { ListedChange, ListFilter, ListPage, Pause } from "../operator/QueueControl.ts"
import type { EntryOfHead } from "../Queue.ts"
import { listEvents, ReplicaRow, toEntry } from "./ReplicaRow.ts"
import type { RowChange } from "./RowText.ts"

/**
 * Builds pages of a listing of entries (QueueControl.list).
 *
 * Returns whether a row is listed after the one that a page begins after.
 */
const isAfter = ({ after, newestFirst = false }: ListFilter, id: string): boolean =>
  after === undefined || (newestFirst ? id < after : id > after)

interface Identified {
  readonly id: string
}

/** Returns how the rows of a listing are ordered. */
const compareBy =
  ({ newestFirst = false }: ListFilter) =>
  (one: Identified, other: Identified): number =>
    one.id < other.id === newestFirst ? 1 : -1

/** Returns the first page of the listed entries, which are in order. */
const toPage = (entries: ReadonlyArray<Entry>, limit: number): ListPage => ({
  entries: entries.slice(0, limit),
  next: entries.length > limit ? entries[limit - 1]?.id : undefined
})

const toListed = ({ head, origin, targetKey }: ReplicaRow): ListedChange => ({
  provider: origin.provider,
  kind: origin.target.kind,
  name: numberOrBranch(targetKey, origin),
  head
})

export class RowTable {
  readonly index = new EntryIndex()
  readonly pauses = new Map<string, Pause>()
  readonly #rows = new Map<string, ReplicaRow>()
  readonly #ended = new Set<string>()
  /** Event id to the id of the entry that settles it. */
  readonly #settling = new Map<string, string>()
  /** The latest admission of all rows that were ever in the table. */
  newestAdmission = 0
  readonly #onPause: () => void

  /** `onPause` is called when a pause was set or removed. */
  constructor(onPause: () => void) {
    this.#onPause = onPause
  }

  get size(): number {
    return this.#rows.size
  }

  row(id: string | undefined): ReplicaRow | undefined {
    return id === undefined ? undefined : this.#rows.get(id)
  }

  get(id: string | undefined): Entry | undefined {
    const row = this.row(id)
    return row && toEntry(row)
  }

  /** Returns the id of the entry that settles an event. */
  entryOf(event: string): string | undefined {
    return this.#settling.get(event)
  }

  all(ids: Iterable<string>): ReadonlyArray<Entry> {
    return [...ids].flatMap((id) => this.get(id) ?? [])
  }

  /** Returns the active entries of pull requests and merge groups with this head. */
  withHead(head: string): ReadonlyArray<EntryOfHead> {
    return this.index.activeIds().flatMap((id) => {
      const row = this.#rows.get(id)
      if (row === undefined || row.head !== head || !isMergeable(row.origin.target.kind)) return []
      return [{ id, targetKey: row.targetKey, baseRef: row.origin.baseRef }]
    })
  }

  /** `row` belongs to the table from now on. */
  put(row: ReplicaRow): void {
    const before = this.#rows.get(row.id)
    this.index.apply(before, row)
    this.#rows.set(row.id, row)
    if (before?.events !== row.events) this.#link(before, row)
    if (row.admittedAt > this.newestAdmission) this.newestAdmission = row.admittedAt
    if (isTerminal(row.status)) this.#ended.add(row.id)
    else if (before !== undefined) this.#ended.delete(row.id)
  }

  forget(id: string): void {
    const row = this.#rows.get(id)
    this.index.apply(row, undefined)
    this.#rows.delete(id)
    this.#ended.delete(id)
    if (row !== undefined) this.#unlink(row)
  }

  #link(before: ReplicaRow | undefined, row: ReplicaRow): void {
    if (before !== undefined) this.#unlink(before)
    for (const event of listEvents(row)) this.#settling.set(event, row.id)
  }

  #unlink(row: ReplicaRow): void {
    for (const event of listEvents(row)) if (this.#settling.get(event) === row.id) this.#settling.delete(event)
  }

  /** Restores the earlier row of an entry; undefined if there was none. */
  restore(id: string, row: ReplicaRow | undefined): void {
    if (row === undefined) this.forget(id)
    else this.put(new ReplicaRow(row))
  }

  setPause(scope: Pause["scope"], name: string, pause: Pause | undefined): void {
    if (pause === undefined) this.pauses.delete(pauseKey(scope, name))
    else this.pauses.set(pauseKey(scope, name), pause)
    this.#onPause()
  }

  apply(change: RowChange): void {
    if (change._tag === "Put") this.put(change.row)
    else if (change._tag === "Forget") this.forget(change.id)
    else this.setPause(change.scope, change.name, change.pause)
  }

  /** Ended rows beyond the newest `maxCount` or admitted before `before`, oldest last. */
  prunable({ maxCount, before }: { readonly maxCount: number; readonly before: number }, limit: number) {
    const newestFirst = [...this.#ended]
      .flatMap((id) => this.#rows.get(id) ?? [])
      .toSorted((a, b) => b.admittedAt - a.admittedAt || (a.id < b.id ? 1 : -1))
    return newestFirst.filter((row, place) => place >= maxCount || row.admittedAt < before).slice(-limit)
  }

  /** The rows that ended first, all but `count`. */
  endedBeyond(count: number): ReadonlyArray<ReplicaRow> {
    const rows: Array<ReplicaRow> = []
    for (const id of this.#ended) {
      if (this.#ended.size - rows.length <= count) break
      const row = this.#rows.get(id)
      if (row !== undefined) rows.push(row)
    }
    return rows
  }

  list(filter: ListFilter): ListPage {
    const { accepts, since = 0, statuses, targetKey, until = Number.POSITIVE_INFINITY, workspace } = filter
    const listed = [...this.#rows.values()].filter(
      (row) =>
        isAfter(filter, row.id) &&
        row.admittedAt >= since &&
        row.admittedAt < until &&
        (workspace === undefined || row.workspace === workspace) &&
        (targetKey === undefined || row.targetKey === targetKey) &&
        (statuses === undefined || statuses.includes(row.status)) &&
        (accepts === undefined || accepts(toListed(row)))
    )
    return toPage(
      listed
        .toSorted(compareBy(filter))
        .slice(0, filter.limit + 1)
        .map(toEntry),
      filter.limit
    )
  }

  /**
   * Returns all rows, oldest first, without those that are added after the first was taken. A row that changes after that may have its
   * earlier or its new value.
   */
  *changes(): Generator<RowChange> {
    let left = this.#rows.size
    for (const row of this.#rows.values()) {
      if (left === 0) break
      left -= 1
      yield { _tag: "Put", row }
    }
    for (const pause of this.pauses.values()) yield { _tag: "Pause", scope: pause.scope, name: pause.name, pause }
  }
}
