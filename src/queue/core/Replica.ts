/**
 * The table of one node, which follows the journal. A transaction changes the table before it is appended and notes the earlier rows; when its place in
 * the journal was taken, it is rolled back.
 *
 * ```
 * begin ──operations──▶ changes ──appended──▶ commit
 *                          └────conflict────▶ rollback ──▶ apply what others appended ──▶ begin
 * ```
 */
import type { Entry } from "../../domain/Entry.ts"
import { TargetKey } from "../../domain/Keys.ts"
import { toRow } from "./ChangeRow.ts"
import type { EntryTable } from "./EntryTable.ts"
import { pauseKey } from "../operator/QueueControl.ts"
import type { Pause } from "../operator/QueueControl.ts"
import { journalStart } from "../journal/Journal.ts"
import type { JournalChanges, JournalRecord, JournalPosition } from "../journal/Journal.ts"
import { quarantinedEntry, quarantineReason } from "./Quarantined.ts"
import { fromEntry, isPartial, Origins } from "./ReplicaRow.ts"
import type { ReplicaRow } from "./ReplicaRow.ts"
import { RowTable } from "./RowTable.ts"
import { fromText, toText } from "./RowText.ts"
import type { DamagedRow, RowChange } from "./RowText.ts"

/** Rows of one page of a snapshot: about 500 KB. */
const pageRows = 2000

export class Replica {
  readonly #pauseListeners = new Set<() => void>()
  readonly #notifyPause = (): void => {
    for (const listener of this.#pauseListeners) listener()
  }
  #rows = new RowTable(this.#notifyPause)
  #origins = new Origins()
  /** Rows that this transaction changed, with their earlier values. */
  readonly #touched = new Map<string, ReplicaRow | undefined>()
  readonly #pauses = new Map<
    string,
    { readonly scope: Pause["scope"]; readonly name: string; readonly before: Pause | undefined }
  >()
  readonly #details = new Map<string, string | undefined>()
  /** Targets, events and pauses that operations read, and whether they read an entry that does not exist here. */
  readonly #scope = new Set<string>()
  #isStrict = false

  /** The last message that is in the table. */
  applied: JournalPosition = journalStart
  /** Rows that were read or written since the newest snapshot. */
  sinceSnapshot = 0

  /** The table for operations. Reads between transactions see the state of the journal. */
  readonly table: EntryTable = this.#recording()

  get size(): number {
    return this.#rows.size
  }

  /** Calls the listener when pauses may have changed, also within a transaction. Returns a function that ends this. */
  onPause(listener: () => void): () => void {
    this.#pauseListeners.add(listener)
    return () => this.#pauseListeners.delete(listener)
  }

  begin(): void {
    this.#isStrict = false
    for (const noted of [this.#touched, this.#pauses, this.#details, this.#scope]) noted.clear()
  }

  /** Details of entries that this transaction writes or removes. */
  get details(): JournalChanges["details"] {
    return this.#details
  }

  /** Undefined when nothing changed. */
  changes(): JournalChanges | undefined {
    const rows = [
      ...Array.from(this.#touched.keys(), (id): RowChange => {
        const row = this.#rows.row(id)
        return row === undefined ? { _tag: "Forget", id } : { _tag: "Put", row }
      }),
      ...Array.from(this.#pauses, ([key, { name, scope }]): RowChange => {
        return { _tag: "Pause", scope, name, pause: this.#rows.pauses.get(key) }
      })
    ]
    if (rows.length === 0) return undefined
    this.sinceSnapshot += rows.length
    return {
      rows: toText(rows),
      details: this.#details,
      scope: Array.from(this.#scope, wordOf),
      isStrict: this.#isStrict
    }
  }

  /**
   * The transaction is at `position`. `missed`: what others appended between the last message and it, and about other things. Returns why
   * parts of these cannot be read.
   */
  commit(position: JournalPosition, missed: ReadonlyArray<JournalRecord>): ReadonlyArray<string> {
    const damage = missed.flatMap((message) => this.apply(message))
    this.applied = position
    this.begin()
    return damage
  }

  rollback(): void {
    for (const [id, before] of [...this.#touched].toReversed()) this.#rows.restore(id, before)
    for (const { before, name, scope } of this.#pauses.values()) this.#rows.setPause(scope, name, before)
    this.begin()
  }

  /** Whether a message comes right after the last one; one that is too damaged to have a predecessor comes after its sequence. */
  continues({ after, sequence }: JournalRecord): boolean {
    return sequence === this.applied.sequence + 1 && (after === undefined || after === this.applied.id)
  }

  /** Applies a message, and returns why parts of it cannot be read. Throws `NewerFormat`; then nothing is applied. */
  apply({ id, rows, sequence }: JournalRecord): ReadonlyArray<string> {
    const damage = this.#applyText(rows, {
      name: `message ${sequence} of the queue's journal`,
      id: damagedId(8, sequence)
    })
    this.applied = { id, sequence }
    return damage
  }

  /** Goes on behind a message that was not decided on the table, and shows it to operators. */
  skip({ id, sequence }: JournalRecord): void {
    const from = { name: `message ${sequence} of the queue's journal`, id: damagedId(8, sequence) }
    const damage = { _tag: "Damaged", id: undefined, why: "it does not follow the one before it" } as const
    this.#rows.put(fromEntry(this.#quarantined(damage, from), this.#origins))
    this.applied = { id, sequence }
  }

  /** The same for a page of a snapshot. Pages are counted from 1. */
  applyPage(text: string, page: number): ReadonlyArray<string> {
    return this.#applyText(text, { name: `page ${page} of the queue's snapshot`, id: damagedId(9, page) })
  }

  #applyText(text: string, from: { readonly name: string; readonly id: string }): ReadonlyArray<string> {
    const changes = fromText(text, this.#origins)
    const damage: Array<string> = []
    for (const change of changes) {
      if (change._tag !== "Damaged") {
        this.#rows.apply(change)
        continue
      }
      damage.push(change.why)
      this.#rows.put(fromEntry(this.#quarantined(change, from), this.#origins))
    }
    this.sinceSnapshot += changes.length
    return damage
  }

  /** The entry that shows the damage to operators: the damaged one if it is known, or one for the text. The same on every node. */
  #quarantined({ id, why }: DamagedRow, from: { readonly name: string; readonly id: string }): Entry {
    const known = this.#rows.get(id)
    if (known !== undefined)
      return {
        ...known,
        status: "dead",
        reason: quarantineReason(from.name, why),
        owner: undefined,
        leaseUntil: undefined,
        cancelRequested: undefined
      }
    const nothing = { workspace: "", targetKey: TargetKey.make(""), repo: "", events: [] }
    const remains = { ...nothing, id: id ?? from.id, admittedAt: this.#rows.newestAdmission }
    return quarantinedEntry(remains, from.name, why)
  }

  /** Forgets everything that was read. */
  reset(): void {
    this.#rows = new RowTable(this.#notifyPause)
    this.#notifyPause()
    this.#origins = new Origins()
    this.applied = journalStart
    this.sinceSnapshot = 0
    this.begin()
  }

  /** Returns the table in pages, each with the rows of the moment in which it is taken. Throws once the table was reset. */
  *pages(): Generator<string> {
    const rows = this.#rows
    let page: Array<RowChange> = []
    for (const change of rows.changes()) {
      if (page.push(change) < pageRows) continue
      yield toText(page)
      if (rows !== this.#rows) throw new Error("the table was read again while its snapshot was written")
      page = []
    }
    yield toText(page)
  }

  #get(id: string): Entry | undefined {
    const entry = this.#rows.get(id)
    if (entry === undefined) this.#isStrict = true
    else this.#scope.add(entry.targetKey)
    return entry
  }

  #put(entry: Entry): void {
    const { id } = entry
    this.#scope.add(entry.targetKey)
    if (!this.#touched.has(id)) this.#touched.set(id, this.#rows.row(id))
    this.#rows.put(fromEntry(entry, this.#origins))
    if (!isPartial(entry.change)) this.#details.set(id, JSON.stringify(toRow(entry.change)))
  }

  #prune(keep: { readonly maxCount: number; readonly before: number }, limit: number): number {
    return this.#remove(this.#rows.prunable(keep, limit))
  }

  /** Removes the entries that ended first, beyond `count`; part of a transaction. */
  keepEnded(count: number): void {
    this.#remove(this.#rows.endedBeyond(count))
  }

  /** Returns their number. */
  #remove(removed: ReadonlyArray<ReplicaRow>): number {
    for (const row of removed) {
      this.#touched.set(row.id, row)
      this.#scope.add(row.targetKey)
      this.#details.set(row.id, undefined)
      this.#rows.forget(row.id)
    }
    return removed.length
  }

  #setPause(scope: Pause["scope"], name: string, pause: Pause | undefined): void {
    const key = pauseKey(scope, name)
    this.#scope.add(`pause:${key}`)
    const before = this.#rows.pauses.get(key)
    if (before === undefined && pause === undefined) return
    if (!this.#pauses.has(key)) this.#pauses.set(key, { before, scope, name })
    this.#rows.setPause(scope, name, pause)
  }

  #recording(): EntryTable {
    const index = () => this.#rows.index
    return {
      get: (id) => this.#get(id),
      position: (target) => {
        this.#scope.add(target)
        return { next: this.#rows.get(index().next(target)), running: this.#rows.get(index().running(target)) }
      },
      entryOf: (event) => {
        this.#scope.add(`event:${event}`)
        return this.#rows.entryOf(event)
      },
      active: (workspace) => this.#rows.all(index().active(workspace)),
      snapshot: (workspace, now, places) => ({
        paused: this.#rows.pauses.has(pauseKey("workspace", workspace)),
        ...index().snapshot(workspace, now, places)
      }),
      withHead: (head) => this.#rows.withHead(head),
      workspaces: () => index().workspaces(),
      running: () => this.#rows.all(index().allRunning()),
      expiring: (before) => this.#rows.all(index().expiring(before)),
      oldestWaiting: () => index().oldestWaiting(),
      byStatus: () => ({ ...index().counts }),
      pending: (workspace) => index().pending(workspace),
      list: (filter) => this.#rows.list(filter),
      pauses: () => [...this.#rows.pauses.values()],
      setPause: (scope, name, pause) => this.#setPause(scope, name, pause),
      put: (entry) => this.#put(entry),
      prune: (keep, limit) => this.#prune(keep, limit)
    }
  }
}

/** An id for the text that cannot be read. It sorts before all others. */
const damagedId = (kind: number, count: number): string =>
  `00000000-0000-7000-${kind}000-${count.toString(16).padStart(12, "0")}`

/** Returns a short word for a target or an event (FNV-1a). Two that share one are taken for the same, which costs a conflict. */
const wordOf = (text: string): string => {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return (hash >>> 0).toString(36)
}
