/**
 * The queue, independent of its store. Stores differ in what survives a crash, not in meaning; one conformance suite holds them to this
 * contract. States and transitions: domain/Entry.ts. Times are milliseconds since the epoch and are passed by the caller, so that tests
 * control the clock of every store.
 */
import { Context, Schema } from "effect"
import type { Effect } from "effect"
import type { AcceptedStatus } from "../domain/Decision.ts"
import type { Change } from "../domain/Change.ts"
import type { Entry, EntryStatus } from "../domain/Entry.ts"
import type { LeaseToken } from "../domain/FencingToken.ts"
import type { TargetKey } from "../domain/Keys.ts"
import { Reason } from "../domain/Reason.ts"
import { inEnglish } from "../text/en.ts"
import type { ExpiryCutoffs } from "./ExpiryCutoffs.ts"
import type { QueueSnapshot } from "./Plan.ts"

/** Work to be queued. Admitting the same `eventId` twice changes nothing and returns `duplicate`. */
export interface QueueAdmission {
  readonly eventId: string
  readonly change: Change
  readonly configHash: string
  readonly priority: number
  readonly admittedAt: number
  readonly dueAt: number
  /** Reason why it is not due yet: a delay, a window. */
  readonly reason?: Reason | undefined
  /** Whether it may expire while it waits. Default: automatic work may, by its priority. */
  readonly expires?: boolean | undefined
}

export interface QueueAdmitted {
  readonly entryId: string
  readonly status: AcceptedStatus
  readonly dueAt: number
  /**
   * Event records to settle as superseded: those of the entry that this one replaced or, for a `duplicate`, the event itself if its entry
   * was superseded since.
   */
  readonly superseded: ReadonlyArray<string>
}

/** An entry whose change has a certain head. */
export interface EntryOfHead extends Pick<Entry, "id" | "targetKey"> {
  readonly baseRef: string | undefined
}

/** Right of a worker to work on an entry. `token` fences its writes: a store refuses a token that is not the newest. */
export interface Lease {
  readonly entryId: string
  readonly token: LeaseToken
}

export type Finish =
  | { readonly _tag: "Done"; readonly reason?: Reason | undefined }
  | { readonly _tag: "Dead"; readonly reason: Reason }
  | { readonly _tag: "Cancelled"; readonly reason: Reason }
  /**
   * Waits again until `dueAt`; `counted: false` for a released lease, which costs no attempt. `priority`: that of the automatic review, because
   * those who requested it may not.
   */
  | {
      readonly _tag: "Retry"
      readonly dueAt: number
      readonly reason: Reason
      readonly counted: boolean
      readonly priority?: number | undefined
    }

/** `Cancelled`: the lease is held, and the work is to be ended with `finish` as `Cancelled`. `Lost`: the worker must stop. */
export type Renewal =
  | { readonly _tag: "Kept" }
  | { readonly _tag: "Cancelled"; readonly reason: Reason }
  | { readonly _tag: "Lost" }

export interface Cancelled {
  /** Entries that ended as `cancelled`. */
  readonly ended: ReadonlyArray<Entry>
  /** Running entries with `cancelRequested`: their worker ends them. */
  readonly stopping: ReadonlyArray<Entry>
}

export const nothingCancelled: Cancelled = { ended: [], stopping: [] }

interface QueueStats {
  readonly byStatus: Readonly<Record<EntryStatus, number>>
  /** Admission time of the oldest waiting entry. */
  readonly oldestWaiting: number | undefined
}

export class QueueError extends Schema.TaggedError<QueueError>()("QueueError", {
  /** `full`: a limit on waiting entries is reached; `unavailable`: the store cannot be read or written now. */
  reason: Schema.Literals(["full", "unavailable"]),
  /** The server that is disconnected, if that is the cause: a start waits for it. */
  disconnected: Schema.optionalKey(Schema.Literals(["redis", "nats"])),
  why: Reason
}) {
  override get message(): string {
    return inEnglish(this.why)
  }
}

export class Queue extends Context.Service<
  Queue,
  {
    /**
     * Queues work, in order. Per target: the same head joins the entry that waits or runs (`coalesced`); another head replaces the one that
     * waits (which becomes `superseded` and passes on its position) or waits behind the one that runs. An entry without a head (comment
     * command) joins the waiting one. Nothing joins an entry that is to be cancelled. All or nothing.
     */
    readonly admit: (items: ReadonlyArray<QueueAdmission>) => Effect.Effect<ReadonlyArray<QueueAdmitted>, QueueError>
    /** Returns the active (waiting, ready, running) entries of a workspace. */
    readonly load: (workspace: string) => Effect.Effect<ReadonlyArray<Entry>, QueueError>
    /**
     * Returns the input of the scheduler's next decision for a workspace: its entries in flight, and the first eligible ones of each
     * repository and priority, enough to fill `places`. The cost is independent of the number of other waiting entries.
     */
    readonly loadSnapshot: (workspace: string, now: number, places: number) => Effect.Effect<QueueSnapshot, QueueError>
    /** Workspaces with active entries. */
    readonly workspaces: Effect.Effect<ReadonlyArray<string>, QueueError>
    readonly get: (entryId: string) => Effect.Effect<Entry | undefined, QueueError>
    /** Returns the active entries of pull requests with this head, in any workspace. The cost grows with the number of active entries. */
    readonly withHead: (head: string) => Effect.Effect<ReadonlyArray<EntryOfHead>, QueueError>
    /** Promotes entries (waiting -> ready) that still wait; returns those it moved. */
    readonly promote: (entryIds: ReadonlyArray<string>, now: number) => Effect.Effect<ReadonlyArray<string>, QueueError>
    /** Demotes entries (ready -> waiting) whose tickets were not claimed. */
    readonly demote: (entryIds: ReadonlyArray<string>) => Effect.Effect<void, QueueError>
    /** Moves ready -> running. Undefined if another worker was faster or the entry is no longer ready. */
    readonly claim: (
      entryId: string,
      owner: string,
      now: number,
      ttlMillis: number
    ) => Effect.Effect<{ readonly lease: Lease; readonly entry: Entry } | undefined, QueueError>
    /** Extends the lease, unless it is lost. */
    readonly renew: (lease: Lease, until: number) => Effect.Effect<Renewal, QueueError>
    /**
     * Marks a running entry as one that awaits its model: until it ends or waits again, limits of concurrent reviews do not count it. May be
     * repeated. Returns false if the lease is lost.
     */
    readonly awaitModel: (lease: Lease) => Effect.Effect<boolean, QueueError>
    /**
     * Ends or releases a running entry; one that is to be cancelled never waits again. Returns false if the lease is lost and nothing was
     * changed.
     */
    readonly finish: (lease: Lease, finish: Finish) => Effect.Effect<boolean, QueueError>
    /** Ends the waiting entry of a target, and requests the worker of the running one to end it. */
    readonly cancel: (targetKey: TargetKey, reason: Reason) => Effect.Effect<Cancelled, QueueError>
    /**
     * Reclaims running entries whose lease ended by `now`, or whose owner satisfies `lost`: they wait again at `now`, are dead after
     * `maxLosses` lost workers, and are cancelled if that was requested. Returns their new state.
     */
    readonly reclaim: (now: number, lost: (owner: string) => boolean) => Effect.Effect<ReadonlyArray<Entry>, QueueError>
    /** Expires waiting entries that may expire and were admitted before the time of their workspace; returns them. */
    readonly expire: (before: ExpiryCutoffs, reason: Reason) => Effect.Effect<ReadonlyArray<Entry>, QueueError>
    /** Removes ended entries admitted before `before`, or beyond the newest `maxCount` ended ones. Returns their number. */
    readonly prune: (keep: { readonly maxCount: number; readonly before: number }) => Effect.Effect<number, QueueError>
    readonly stats: Effect.Effect<QueueStats, QueueError>
  }
>()("aicr/queue/Queue") {}
