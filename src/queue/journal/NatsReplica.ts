/**
 * Table of entries in the memory of one node, kept equal on all nodes by a log of changes (NatsLog.ts). A transaction changes the table
 * immediately and returns its changes as whole rows; if another node appended first, it is rolled back.
 *
 * ```
 * begin ──operations──▶ changes ──appended──▶ commit(seq)
 *                          └──────refused────▶ rollback ──▶ apply other nodes' messages ──▶ begin
 * ```
 * The last message with a row is its current one. The log may lose its beginning up to the first message with a current row. So that an
 * entry that waits for long does not keep everything after it, a transaction rewrites some of the oldest rows (`carried`).
 */
import { gunzipSync, gzipSync } from "node:zlib"
import { Result, Schema } from "effect"
import { Entry } from "../../domain/Entry.ts"
import { TargetKey } from "../../domain/Keys.ts"
import type { EntryTable } from "../core/EntryTable.ts"
import * as MemoryTable from "../core/MemoryTable.ts"
import { quarantinedEntry } from "../core/Quarantined.ts"
import type { Pause } from "../operator/QueueControl.ts"

const Scope = Schema.Literals(["workspace", "node"])
const Row = Schema.Union([
  Schema.Struct({ put: Entry }),
  Schema.Struct({ forget: Schema.String }),
  Schema.Struct({
    pause: Schema.Struct({ scope: Scope, name: Schema.String, reason: Schema.String, since: Schema.Int })
  }),
  Schema.Struct({ resume: Schema.Struct({ scope: Scope, name: Schema.String }) })
])
export type Row = typeof Row.Type

/**
 * One message of the log. Its writer recognises it by `id` when the response was lost; `after` is the id of the previous message, so that a
 * log that lost its end and grew again is detected.
 */
const JournalMessage = Schema.Struct({ id: Schema.String, after: Schema.String, rows: Schema.Array(Row) })
export type JournalMessage = typeof JournalMessage.Type
/** A message, or the replacement of a damaged one. */
type Applied = Omit<JournalMessage, "id"> & { readonly id: string | undefined }

const decodeMessage = Schema.decodeUnknownResult(JournalMessage)
/** Matches the fields that messages of all releases have. */
const isEnvelope = Schema.is(
  Schema.Struct({ id: Schema.String, after: Schema.String, rows: Schema.Array(Schema.Unknown) })
)
/** Size in bytes above which compression is worthwhile. */
const packFrom = 8192
const gzipStart = 0x1f

export const encode = (message: JournalMessage): Uint8Array => {
  const text = Buffer.from(JSON.stringify(message))
  return text.length < packFrom ? text : gzipSync(text, { level: 1 })
}

/**
 * `Damaged`: no release wrote these bytes, so they are unreadable for good. `Unknown`: a message of the queue whose rows this release
 * cannot decode, because a newer one wrote it; skipping it would lose work.
 */
export type ReplicaReading =
  | { readonly _tag: "Message"; readonly message: JournalMessage }
  | { readonly _tag: "Damaged" | "Unknown"; readonly why: string }

/** Returns the cause in one line. */
const whyOf = (cause: unknown): string =>
  (cause instanceof Error ? cause.message : String(cause)).replaceAll(/\s+/g, " ")

export const read = (payload: Uint8Array): ReplicaReading => {
  let content: unknown
  try {
    content = JSON.parse((payload[0] === gzipStart ? gunzipSync(payload) : Buffer.from(payload)).toString("utf8"))
  } catch (cause) {
    return { _tag: "Damaged", why: whyOf(cause) }
  }
  if (!isEnvelope(content)) return { _tag: "Damaged", why: "it is not a message of the queue" }
  const message = decodeMessage(content)
  return Result.isSuccess(message)
    ? { _tag: "Message", message: message.success }
    : { _tag: "Unknown", why: whyOf(message.failure) }
}

/** Returns the id of the replacement of a damaged message: the same on every node. */
const standInId = (sequence: number, time: number): string => {
  const millis = time.toString(16).padStart(12, "0")
  return `${millis.slice(0, 8)}-${millis.slice(8)}-7000-8000-${sequence.toString(16).padStart(12, "0")}`
}

/** Returns the replacement of a damaged message: an entry that shows it to operators. */
const standIn = (sequence: number, time: number, why: string): Row => ({
  put: quarantinedEntry(
    {
      id: standInId(sequence, time),
      workspace: "",
      targetKey: TargetKey.make(""),
      repo: "",
      events: [],
      admittedAt: time
    },
    `message ${sequence} of the queue's log`,
    why
  )
})

const keyOf = (row: Row): string =>
  "put" in row
    ? row.put.id
    : "forget" in row
      ? row.forget
      : "pause" in row
        ? pauseKey(row.pause.scope, row.pause.name)
        : pauseKey(row.resume.scope, row.resume.name)
const pauseKey = (scope: Pause["scope"], name: string): string => `pause:${scope}:${name}`

/** Number of messages above which transactions rewrite old rows. */
const spanKept = 1024
const carriedAtOnce = 64

export class NatsReplica {
  #base = MemoryTable.make()
  /** State of the touched entries before this transaction. */
  #entries = new Map<string, Entry | undefined>()
  #pauses = new Map<
    string,
    { readonly before: Pause | undefined; readonly scope: Pause["scope"]; readonly name: string }
  >()
  /** The current message of each row, and the current rows of each message, oldest first. */
  #place = new Map<string, number>()
  #counting = new Map<number, Set<string>>()
  /** Sequence of the last message that is in the table. */
  applied = 0
  /** Id of the last message; undefined if it was damaged. */
  last: string | undefined = ""

  /** Table for operations. Reads between transactions see the state of the log. */
  readonly table: EntryTable = this.#recording()

  begin(): void {
    this.#entries.clear()
    this.#pauses.clear()
  }

  changes(): ReadonlyArray<Row> {
    return [
      ...Array.from(this.#entries.keys(), (id) => this.#rowOf(id)),
      ...Array.from(this.#pauses.values(), ({ scope, name }): Row => {
        const pause = this.#base.pauses().find((one) => one.scope === scope && one.name === name)
        return pause === undefined ? { resume: { scope, name } } : { pause }
      })
    ]
  }

  /** Returns current rows of the beginning of the log if it is long for its content. */
  carried(): ReadonlyArray<Row> {
    const span = this.applied - this.first
    if (span < Math.max(spanKept, 2 * this.#place.size)) return []
    const rows: Array<Row> = []
    for (const keys of this.#counting.values()) {
      for (const key of keys) {
        if (!this.#entries.has(key) && !this.#pauses.has(key)) rows.push(this.#rowOf(key))
      }
      if (rows.length >= carriedAtOnce) break
    }
    return rows
  }

  /** Sequence of the first message with a current row. */
  get first(): number {
    for (const [sequence, keys] of this.#counting) {
      if (keys.size > 0) return sequence
      this.#counting.delete(sequence)
    }
    return this.applied
  }

  commit(sequence: number, message: JournalMessage): void {
    this.#account(sequence, message)
    this.begin()
  }

  rollback(): void {
    for (const [id, before] of [...this.#entries].toReversed()) this.#base.set(id, before)
    for (const { scope, name, before } of this.#pauses.values()) this.#base.setPause(scope, name, before)
    this.begin()
  }

  /** Returns whether a message is the one after the last. */
  continues(sequence: number, { after }: Pick<JournalMessage, "after">): boolean {
    const follows = this.last === undefined || after === this.last
    return this.applied === 0 || (sequence === this.applied + 1 && follows)
  }

  /** Skips a damaged message. `time` is the time of its append. */
  skip(sequence: number, time: number, why: string): void {
    this.apply(sequence, { id: undefined, after: "", rows: [standIn(sequence, time, why)] })
  }

  /** Applies a message of another node. */
  apply(sequence: number, message: Applied): void {
    for (const row of message.rows) {
      if ("put" in row) this.#base.set(row.put.id, row.put)
      else if ("forget" in row) this.#base.set(row.forget, undefined)
      else if ("pause" in row) this.#base.setPause(row.pause.scope, row.pause.name, row.pause)
      else this.#base.setPause(row.resume.scope, row.resume.name, undefined)
    }
    this.#account(sequence, message)
  }

  /** Resets the table to its initial state. */
  reset(): void {
    this.#base = MemoryTable.make()
    this.#place.clear()
    this.#counting.clear()
    this.applied = 0
    this.last = ""
    this.begin()
  }

  #account(sequence: number, { id, rows }: Applied): void {
    this.applied = sequence
    this.last = id
    const counting = new Set<string>()
    for (const row of rows) {
      const key = keyOf(row)
      const before = this.#place.get(key)
      if (before !== undefined) this.#counting.get(before)?.delete(key)
      if ("put" in row || "pause" in row) {
        this.#place.set(key, sequence)
        counting.add(key)
      } else this.#place.delete(key)
    }
    if (counting.size > 0) this.#counting.set(sequence, counting)
  }

  #rowOf(key: string): Row {
    const entry = this.#base.get(key)
    if (entry !== undefined) return { put: entry }
    const pause = this.#base.pauses().find(({ scope, name }) => pauseKey(scope, name) === key)
    return pause === undefined ? { forget: key } : { pause }
  }

  /** Returns a table that records the state before each change. */
  #recording(): EntryTable {
    const touch = (id: string) => {
      if (!this.#entries.has(id)) this.#entries.set(id, this.#base.get(id))
    }
    return {
      get: (id) => this.#base.get(id),
      position: (target) => this.#base.position(target),
      entryOf: (event) => this.#base.entryOf(event),
      active: (workspace) => this.#base.active(workspace),
      snapshot: (workspace, now, places) => this.#base.snapshot(workspace, now, places),
      workspaces: () => this.#base.workspaces(),
      running: () => this.#base.running(),
      expiring: (before) => this.#base.expiring(before),
      oldestWaiting: () => this.#base.oldestWaiting(),
      byStatus: () => this.#base.byStatus(),
      pending: (workspace) => this.#base.pending(workspace),
      list: (filter) => this.#base.list(filter),
      pauses: () => this.#base.pauses(),
      setPause: (scope, name, pause) => {
        const key = pauseKey(scope, name)
        if (!this.#pauses.has(key)) {
          const before = this.#base.pauses().find((one) => one.scope === scope && one.name === name)
          if (before === undefined && pause === undefined) return
          this.#pauses.set(key, { before, scope, name })
        }
        this.#base.setPause(scope, name, pause)
      },
      put: (entry) => {
        touch(entry.id)
        this.#base.set(entry.id, entry)
      },
      prune: (keep, limit) => {
        const removed = this.#base.prunable(keep, limit)
        for (const { id } of removed) {
          touch(id)
          this.#base.set(id, undefined)
        }
        return removed.length
      }
    }
  }
}
