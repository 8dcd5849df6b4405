/**
 * A batch: the automatic pushes of one stream (a branch of a repository, under one workspace and trigger) that are reviewed
 * together. The review itself is a queue entry; the batch records its members and its outcome.
 *
 * ```
 * open ──▶ ready ──▶ running ──▶ succeeded | skipped | dead
 *   │        │          │  ▲
 *   │        │          ▼  │
 *   │        │       retry_wait
 *   └────────┴──────────┴──────▶ cancelled | expired
 * ```
 * An operator may retry a dead batch: dead ──▶ ready.
 * open: collects pushes until it is due. ready: sealed; waits for the previous batch of its stream or for a free slot.
 * States of a member: pending ──▶ batched (its batch is sealed) ──▶ completed | skipped | failed.
 */
import { Schema } from "effect"
import { makeLifecycle } from "./Lifecycle.ts"
import type { Change } from "./Change.ts"
import { isForgeKind } from "./Kinds.ts"
import type { EventOutcome } from "./Decision.ts"
import { isDue } from "./Entry.ts"
import type { Entry } from "./Entry.ts"

export const BatchStatus = Schema.Literals([
  "open",
  "ready",
  "running",
  "retry_wait",
  "succeeded",
  "skipped",
  "dead",
  "expired",
  "cancelled"
])
export type BatchStatus = typeof BatchStatus.Type

export const MemberStatus = Schema.Literals(["pending", "batched", "completed", "skipped", "failed"])
export type MemberStatus = typeof MemberStatus.Type

/**
 * States may be skipped, because the record follows the queue entry, which may change several times between two updates. Ended and sealed
 * are final.
 */
export const batchLifecycle = makeLifecycle<BatchStatus>(BatchStatus.literals, {
  open: ["ready", "running", "retry_wait", "succeeded", "skipped", "dead", "expired", "cancelled"],
  ready: ["running", "retry_wait", "succeeded", "skipped", "dead", "expired", "cancelled"],
  running: ["ready", "retry_wait", "succeeded", "skipped", "dead", "expired", "cancelled"],
  retry_wait: ["ready", "running", "succeeded", "skipped", "dead", "expired", "cancelled"],
  succeeded: [],
  skipped: [],
  dead: [],
  expired: [],
  cancelled: []
})

/** Number of commits above which a push opens the next batch. */
export const maxCommits = 4096

/** One push: the commits of its branch before and after. `before` is undefined if the push created the branch. */
export interface Push {
  readonly before?: string | undefined
  readonly after: string
}

/**
 * Returns whether a change may join a batch. Pushes to a branch always may. Changes of a server's repository may while one author submits
 * them one after the other: so that the review has no other author's changes. Reports may overtake each other.
 */
export const mayJoin = (batch: Change, change: Change): boolean =>
  // A person's request is reviewed by itself.
  batch.requestedBy === change.requestedBy &&
  (isForgeKind(change.provider) ||
    (batch.author?.username === change.author?.username && (change.base === batch.head || change.head === batch.base)))

/**
 * Returns the range of a batch's pushes in order of receipt. Deliveries may overtake each other, but each contains the previous commit of
 * the branch: the pushes form a chain whose ends are the range. If they do not (a delivery is missing, or the branch returned to an earlier
 * commit), the first and the newest received push are the ends.
 */
export const toRange = (pushes: readonly [Push, ...ReadonlyArray<Push>]): Push => {
  const afters = new Set(pushes.map(({ after }) => after))
  const befores = new Set(pushes.map(({ before }) => before))
  const starts = pushes.filter(({ before }) => before === undefined || !afters.has(before))
  const ends = pushes.filter(({ after }) => !befores.has(after))
  const [start] = starts
  const [end] = ends
  if (start !== undefined && end !== undefined && starts.length === 1 && ends.length === 1) {
    return { before: start.before, after: end.after }
  }
  return { before: pushes[0].before, after: pushes.at(-1)?.after ?? pushes[0].after }
}

/**
 * Returns whether a push, which was delivered late or again under another id, is in another one: it is the same, or a part of one that a search
 * found. A push that returns the branch from the head of that one to an earlier commit is no part of it.
 */
export const isInPush = (
  push: Push,
  { after, before, covers }: Push & { readonly covers?: ReadonlyArray<string> | undefined }
) =>
  push.after === after
    ? covers !== undefined || push.before === before
    : push.before !== after && covers?.includes(push.after) === true

/** Returns the status of a batch from its queue entry. */
export const statusBy = (
  entry: Pick<Entry, "status" | "attempts" | "admittedAt" | "dueAt" | "reason">,
  now: number
): BatchStatus => {
  switch (entry.status) {
    case "waiting":
      return entry.attempts > 0 ? "retry_wait" : isDue(entry, now) ? "ready" : "open"
    case "ready":
      return "ready"
    case "running":
      return "running"
    case "done":
      return entry.reason === undefined ? "succeeded" : "skipped"
    case "superseded":
      return "skipped"
    case "dead":
      return "dead"
    case "expired":
      return "expired"
    case "cancelled":
      return "cancelled"
  }
}

/** Maps the outcome of its members' receipts to the status of a batch whose queue entry no longer exists. */
export const statusAfter: Readonly<Record<EventOutcome, BatchStatus>> = {
  executed: "succeeded",
  superseded: "skipped",
  skipped: "skipped",
  cancelled: "cancelled",
  expired: "expired",
  failed: "dead"
}

/** Maps the final status of a batch to the outcome of its members' receipts. */
export const toEventOutcome = (status: BatchStatus): EventOutcome | undefined => {
  switch (status) {
    case "succeeded":
      return "executed"
    case "skipped":
    case "cancelled":
    case "expired":
      return status
    case "dead":
      return "failed"
    default:
      return undefined
  }
}

export const memberStatusIn = (status: BatchStatus): MemberStatus => {
  switch (status) {
    case "open":
      return "pending"
    case "succeeded":
      return "completed"
    case "dead":
      return "failed"
    case "skipped":
    case "cancelled":
    case "expired":
      return "skipped"
    default:
      return "batched"
  }
}
