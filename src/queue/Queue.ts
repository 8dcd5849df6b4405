/**
 * The queue: one place for all work, whatever store is behind it. Stores differ in what survives a crash, not in meaning;
 * one conformance suite holds them to this contract. States and transitions: domain/Entry.ts. Times are milliseconds since
 * the epoch and are given by the caller, so that a test clock rules every store.
 */
import { Context, Schema } from "effect"
import type { Effect } from "effect"
import type { AcceptedStatus } from "../domain/Decision.ts"
import type { Change } from "../domain/Change.ts"
import type { Entry, EntryStatus } from "../domain/Entry.ts"
import type { LeaseToken } from "../domain/FencingToken.ts"
import type { ExpiryCutoffs } from "./ExpiryCutoffs.ts"
import type { Survey } from "./Plan.ts"

/** Work to be queued. Admitting the same `eventId` twice changes nothing and answers `duplicate`. */
export interface QueueAdmission {
  readonly eventId: string
  readonly change: Change
  readonly configHash: string
  readonly priority: number
  readonly admittedAt: number
  readonly dueAt: number
  /** Why it is not due at once (a delay, a window), in words for an operator. */
  readonly reason?: string | undefined
  /** Whether it may expire while it waits. Left out: automatic work may, by its priority. */
  readonly expires?: boolean | undefined
}

export interface QueueAdmitted {
  readonly entryId: string
  readonly status: AcceptedStatus
  readonly dueAt: number
  /**
   * Event records that are answered by being superseded: those of the entry that this one replaced or, for a `duplicate`, the
   * event itself when its entry was superseded meanwhile.
   */
  readonly superseded: ReadonlyArray<string>
}

/** Why a delivery has no review of its own, where a later one of its pull request replaced it before its review began. */
export const replacedReason = "the pull request has a newer head or another base"

/** What a worker holds while it works. `token` fences its writes: a store refuses a token that is not the newest. */
export interface Lease {
  readonly entryId: string
  readonly token: LeaseToken
}

export type Finish =
  | { readonly _tag: "Done"; readonly reason?: string | undefined }
  | { readonly _tag: "Dead"; readonly reason: string }
  | { readonly _tag: "Cancelled"; readonly reason: string }
  /** Again at `dueAt`; `counted: false` for a handed-back lease, which costs no attempt. */
  | { readonly _tag: "Retry"; readonly dueAt: number; readonly reason: string; readonly counted: boolean }

/** `Cancelled`: the lease holds, and the work is to be ended with `finish` as `Cancelled`. `Lost`: the worker must stop. */
export type Renewal =
  | { readonly _tag: "Kept" }
  | { readonly _tag: "Cancelled"; readonly reason: string }
  | { readonly _tag: "Lost" }

export interface Cancelled {
  /** Ended as `cancelled`: nothing will review them. */
  readonly ended: ReadonlyArray<Entry>
  /** Running still, with `cancelRequested`: their worker ends them. */
  readonly stopping: ReadonlyArray<Entry>
}

export const nothingCancelled: Cancelled = { ended: [], stopping: [] }

export interface QueueStats {
  readonly byStatus: Readonly<Record<EntryStatus, number>>
  /** Admission time of the oldest waiting entry. */
  readonly oldestWaiting: number | undefined
}

export class QueueError extends Schema.TaggedError<QueueError>()("QueueError", {
  /** `full`: a limit on waiting entries is reached; `unavailable`: the store cannot be read or written now. */
  reason: Schema.Literals(["full", "unavailable"]),
  message: Schema.String
}) {}

export class Queue extends Context.Service<
  Queue,
  {
    /**
     * Queues work, in order. Per target: the same head joins the entry that waits or runs (`coalesced`); another head replaces
     * the one that waits (which becomes `superseded` and hands on its place in line) or waits behind the one that runs.
     * An entry without a head (comment command) joins what waits. Nothing joins an entry that is to be cancelled.
     * All or nothing.
     */
    readonly admit: (items: ReadonlyArray<QueueAdmission>) => Effect.Effect<ReadonlyArray<QueueAdmitted>, QueueError>
    /** The active (waiting, ready, running) entries of a workspace. */
    readonly load: (workspace: string) => Effect.Effect<ReadonlyArray<Entry>, QueueError>
    /**
     * What the next decision of a workspace's scheduler can depend on: its entries that are out, and of those that are due the
     * first of each repository and priority, enough to fill `places`. Costs the same however much waits behind them or elsewhere.
     */
    readonly survey: (workspace: string, now: number, places: number) => Effect.Effect<Survey, QueueError>
    /** Workspaces that have active entries. */
    readonly workspaces: Effect.Effect<ReadonlyArray<string>, QueueError>
    readonly get: (entryId: string) => Effect.Effect<Entry | undefined, QueueError>
    /** waiting -> ready, for the entries still waiting; answers those it moved. */
    readonly release: (entryIds: ReadonlyArray<string>, now: number) => Effect.Effect<ReadonlyArray<string>, QueueError>
    /** ready -> waiting, for tickets that nobody claimed. */
    readonly withdraw: (entryIds: ReadonlyArray<string>) => Effect.Effect<void, QueueError>
    /** ready -> running. Undefined when another worker was faster or the entry is no longer ready. */
    readonly claim: (
      entryId: string,
      owner: string,
      now: number,
      ttlMillis: number
    ) => Effect.Effect<{ readonly lease: Lease; readonly entry: Entry } | undefined, QueueError>
    /** Extends the lease, unless it is lost. */
    readonly renew: (lease: Lease, until: number) => Effect.Effect<Renewal, QueueError>
    /**
     * Ends or hands back a running entry; one that is to be cancelled never waits again. False: the lease is lost and nothing
     * was changed.
     */
    readonly finish: (lease: Lease, finish: Finish) => Effect.Effect<boolean, QueueError>
    /** Ends what waits for a target, and asks the worker of what runs to end it. */
    readonly cancel: (targetKey: string, reason: string) => Effect.Effect<Cancelled, QueueError>
    /**
     * Running entries whose lease ended by `now`, or whose owner satisfies `lost`, wait again at `now`; with `maxLosses` lost
     * workers they are dead, and what was to be cancelled is cancelled. Answers them as they stand now.
     */
    readonly reclaim: (now: number, lost: (owner: string) => boolean) => Effect.Effect<ReadonlyArray<Entry>, QueueError>
    /** Waiting entries that may expire and were admitted before the time of their workspace end as `expired`; returns them. */
    readonly expire: (before: ExpiryCutoffs, reason: string) => Effect.Effect<ReadonlyArray<Entry>, QueueError>
    /** Forgets ended entries admitted before `before`, or beyond the newest `maxCount` ended ones. Answers how many. */
    readonly prune: (keep: { readonly maxCount: number; readonly before: number }) => Effect.Effect<number, QueueError>
    readonly stats: Effect.Effect<QueueStats, QueueError>
  }
>()("aicr/queue/Queue") {}
