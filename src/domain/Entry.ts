/**
 * A queue entry: one per piece of waiting work. At most one entry of a target waits and at most one runs.
 *
 * ```
 * waiting ──▶ ready ──▶ running ──▶ done
 *    ▲          │          ├──────▶ dead       attempts used up, a failure that will not pass, or too many workers lost
 *    ├──────────┤          ├──────▶ cancelled  somebody asked, and its worker ended it or was lost
 *    │ (ticket lost)       ├──────▶ superseded it would wait again, and a newer one waits already
 *    │                     └──────▶ waiting    retry with backoff, or a lost or handed-back lease
 *    ├──▶ superseded | cancelled | expired     also from ready
 *    └─── dead                                 an operator asks for another try
 * ```
 * waiting: until it is due (`dueAt`: delay, window or backoff) or until its workspace has a free slot. ready: a ticket is out. running:
 * a worker holds the lease; every write of the worker carries its fencing token.
 */
import { Schema } from "effect"
import { Change } from "./Change.ts"
import { LeaseToken } from "./FencingToken.ts"

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

/** Nothing happens to it by itself any more; a dead one may be tried again by an operator. */
export const isTerminal = (status: EntryStatus): boolean =>
  status !== "waiting" && status !== "ready" && status !== "running"

type Times = Pick<Entry, "admittedAt" | "dueAt">

/** Due when it was admitted: then it stays due, also when the clock is set back after that. */
export const isDueAtOnce = ({ admittedAt, dueAt }: Times): boolean => dueAt <= admittedAt

/** Whether its time has come. */
export const isDue = (times: Times, now: number): boolean => times.dueAt <= now || isDueAtOnce(times)

/** Workers that may be lost under one entry. What has ended that many processes is more likely their cause than their victim. */
export const maxLosses = 5

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
  /** Workers that were lost while they held it; at `maxLosses` it is dead. */
  losses: Schema.Int,
  /** Whether it is closed when it waits for longer than review.auto_commit.queued_timeout_hours. */
  expires: Schema.Boolean,
  /** Why it waits or how it ended, in words for an operator. */
  reason: Schema.optional(Schema.String),
  /** Fencing token of the current lease; grows with each claim, never reused. */
  token: LeaseToken,
  leaseUntil: Schema.optional(Schema.Int),
  owner: Schema.optional(Schema.String),
  /** Somebody wants the running entry ended, and why. Its worker learns it at once or with its next renewal. */
  cancelRequested: Schema.optional(Schema.String)
})
export type Entry = typeof Entry.Type
