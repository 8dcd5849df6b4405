/**
 * A queue entry: one per piece of waiting work. At most one entry of a target waits and at most one runs.
 *
 * ```
 * waiting ──▶ ready ──▶ running ──▶ done
 *    ▲          │          ├──────▶ dead       attempts used up, or a failure that will not pass
 *    ├──────────┤          ├──────▶ cancelled
 *    │ (ticket lost)       └──────▶ waiting    retry with backoff, or a lost or handed-back lease
 *    └──▶ superseded | cancelled | expired     also from ready
 * ```
 * waiting: until `dueAt` (delay, window or backoff) or until its workspace has a free slot. ready: a ticket is out. running:
 * a worker holds the lease; every write of the worker carries its fencing token.
 */
import { Schema } from "effect"
import { Change } from "./Change.ts"

export const EntryStatus = Schema.Literals([
  "waiting",
  "ready",
  "running",
  "done",
  "superseded",
  "cancelled",
  "expired",
  "dead"
])
export type EntryStatus = typeof EntryStatus.Type

const next: Record<EntryStatus, ReadonlyArray<EntryStatus>> = {
  waiting: ["ready", "superseded", "cancelled", "expired"],
  ready: ["waiting", "running", "superseded", "cancelled", "expired"],
  running: ["waiting", "done", "cancelled", "dead"],
  done: [],
  superseded: [],
  cancelled: [],
  expired: [],
  dead: []
}

export const canMove = (from: EntryStatus, to: EntryStatus): boolean => next[from].includes(to)
export const isTerminal = (status: EntryStatus): boolean => next[status].length === 0

/** Smaller runs first: comment and chat commands, then pull requests, then automatic commits (decisions section 4). */
export const Priority = { command: 0, pullRequest: 10, automatic: 20 } as const

export const Entry = Schema.Struct({
  id: Schema.String,
  workspace: Schema.String,
  targetKey: Schema.String,
  change: Change,
  /** Content hash of the configuration snapshot it was admitted under. */
  configHash: Schema.String,
  priority: Schema.Int,
  status: EntryStatus,
  /** Event records that this entry answers for. */
  events: Schema.Array(Schema.String),
  /** Milliseconds since the epoch, as all times here. Inherited from a superseded entry so that pushing never loses one's place. */
  admittedAt: Schema.Int,
  dueAt: Schema.Int,
  /** Completed attempts. A handed-back lease does not count. */
  attempts: Schema.Int,
  /** Why it waits or how it ended, in words for an operator. */
  reason: Schema.optional(Schema.String),
  /** Fencing token of the current lease; grows with each claim, never reused. */
  token: Schema.Int,
  leaseUntil: Schema.optional(Schema.Int),
  owner: Schema.optional(Schema.String)
})
export type Entry = typeof Entry.Type
