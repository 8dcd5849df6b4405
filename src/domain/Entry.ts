/**
 * A queue entry: one target to review. At most one entry of a target waits and at most one runs.
 *
 * ```
 * waiting ──▶ ready ──▶ running ──▶ done
 *    ▲          │          ├──────▶ dead       attempts used up, a permanent failure, or too many workers lost
 *    ├──────────┤          ├──────▶ cancelled  requested; its worker ended it or was lost
 *    │ (ticket lost)       ├──────▶ superseded it would wait again, but a newer entry waits already
 *    │                     └──────▶ waiting    retry with backoff, or a lost or released lease
 *    ├──▶ superseded | cancelled | expired     also from ready
 *    └─── dead                                 an operator retries it
 * ```
 * waiting: until it is due (`dueAt`: delay, window or backoff) or until its workspace has a free slot. ready: a ticket is offered. running:
 * a worker holds the lease; every write of the worker carries its fencing token. Once its review is planned, a running entry awaits its
 * model and leaves its slot to others, within a limit of its own.
 */
import { Schema } from "effect"
import { Change } from "./Change.ts"
import { LeaseToken } from "./FencingToken.ts"
import { TargetKey } from "./Keys.ts"
import { Reason } from "./Reason.ts"

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

/** True if the entry only changes when an operator retries it, or never. */
export const isTerminal = (status: EntryStatus): boolean =>
  status !== "waiting" && status !== "ready" && status !== "running"

type Times = Pick<Entry, "admittedAt" | "dueAt">

/** Returns whether the entry was due at admission. It then stays due, even if the clock is set back. */
export const wasDueAtAdmission = ({ admittedAt, dueAt }: Times): boolean => dueAt <= admittedAt

/** Returns whether the entry is due. */
export const isDue = (times: Times, now: number): boolean => times.dueAt <= now || wasDueAtAdmission(times)

/** Number of lost workers after which an entry is dead: by then the entry is more likely the cause than a victim. */
export const maxLosses = 5

/**
 * Priorities: replies to comments, comment and chat commands, then pull requests, then automatic commits, then what was found without a
 * delivery. Smaller values run first.
 */
export const Priority = { reply: -10, command: 0, pullRequest: 10, automatic: 20, found: 30 } as const

/** Returns whether the entry is a reply to a comment: it has slots of its own, and no review waits for it. */
export const isReply = ({ priority }: Pick<Entry, "priority">): boolean => priority === Priority.reply

export const Entry = Schema.Struct({
  id: Schema.String,
  workspace: Schema.String,
  targetKey: TargetKey,
  change: Change,
  /** Content hash of the configuration snapshot it was admitted under. */
  configHash: Schema.String,
  priority: Schema.Int,
  status: EntryStatus,
  /** Event records that this entry settles. */
  events: Schema.Array(Schema.String),
  /**
   * Milliseconds since the epoch, like all times here. Inherited from a superseded entry, so that pushing does not lose the position in the
   * queue.
   */
  admittedAt: Schema.Int,
  dueAt: Schema.Int,
  /** Completed attempts. A released lease does not count. */
  attempts: Schema.Int,
  /** Number of workers lost while they held it; at `maxLosses` the entry is dead. */
  losses: Schema.Int,
  /** True if the entry expires after review.auto_commit.queued_timeout_hours. */
  expires: Schema.Boolean,
  /** Reason for waiting or for the end. */
  reason: Schema.optional(Reason),
  /** Fencing token of the current lease; increases with each claim, never reused. */
  token: LeaseToken,
  leaseUntil: Schema.optional(Schema.Int),
  owner: Schema.optional(Schema.String),
  /** True for a running entry once its review is planned. Limits of concurrent reviews do not count it. */
  awaitsModel: Schema.Boolean,
  /** Reason of a request to cancel the running entry. Its worker is notified immediately or with its next renewal. */
  cancelRequested: Schema.optional(Reason)
})
export type Entry = typeof Entry.Type
