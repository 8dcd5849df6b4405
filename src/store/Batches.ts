/**
 * Records of batches of automatic commits; states: domain/Batch.ts. The record says which pushes belong together and what became
 * of them; where the review of a batch stands, its queue entry says.
 */
import { Context } from "effect"
import type { Effect } from "effect"
import type { BatchStatus, MemberStatus } from "../domain/Batch.ts"
import type { Change } from "../domain/Change.ts"
import type { StoreError } from "../database/StoreError.ts"

export interface Batch {
  readonly id: string
  /** Target key of the branch: batches of one stream are reviewed one after the other. */
  readonly stream: string
  readonly workspace: string
  /** The newest push; `base`, `head` and `commits` are those of the whole batch. */
  readonly change: Change
  readonly configHash: string
  readonly priority: number
  readonly status: BatchStatus
  readonly commits: number
  /** When its first push was received. */
  readonly firstAt: number
  /** When it is sealed and may be reviewed. */
  readonly dueAt: number
  /** Its entry in the queue, once it is the first of its stream. */
  readonly entryId: string | undefined
  /** Why it waits or how it ended, in words for an operator. */
  readonly reason: string | undefined
  readonly runId: string | undefined
  readonly finishedAt: number | undefined
}

export interface Member {
  readonly eventId: string
  readonly before: string | undefined
  readonly after: string
  readonly commits: number
  readonly receivedAt: number
  readonly status: MemberStatus
}

/** A push that is to go into a batch. `dueAt` is when a batch that it opens is due. */
export interface PushReceived {
  readonly eventId: string
  readonly change: Change
  readonly configHash: string
  readonly priority: number
  readonly admittedAt: number
  readonly dueAt: number
}

export interface Joined {
  /** The batch as it stands with the push. */
  readonly batch: Batch
  readonly how: "opened" | "joined" | "known"
  /** No earlier batch of the stream is unfinished: this one is to be in the queue. */
  readonly first: boolean
}

export interface Placed {
  readonly batch: Batch
  /** No earlier batch of the stream is unfinished. */
  readonly first: boolean
}

export interface BatchUpdate {
  readonly status: BatchStatus
  readonly reason?: string | undefined
  readonly runId?: string | undefined
}

export class Batches extends Context.Service<
  Batches,
  {
    /**
     * Puts pushes into batches, in one transaction: into the open one of the stream while that is not due and has room
     * (4096 commits), else into a new one. A push that is in a batch already stays there. One answer per push, in order.
     */
    readonly join: (pushes: ReadonlyArray<PushReceived>) => Effect.Effect<ReadonlyArray<Joined>, StoreError>
    /**
     * Brings the record, and its members with it, to where the review stands. Ended batches stay as they are. False: nothing changed.
     */
    readonly follow: (batchId: string, update: BatchUpdate, now: number) => Effect.Effect<boolean, StoreError>
    /** These unfinished batches are in the queue, as these entries. One transaction. */
    readonly entered: (
      batches: ReadonlyArray<{ readonly batchId: string; readonly entryId: string }>
    ) => Effect.Effect<void, StoreError>
    /** dead -> ready, for the batch of this entry, because an operator has it tried again. */
    readonly reopen: (entryId: string) => Effect.Effect<void, StoreError>
    /**
     * Unfinished batches that were due by `dueBy`, or are neither due nor in the queue though they are the first of their stream;
     * oldest first, after the given id, at most `limit`. Without `dueBy`: all unfinished ones.
     */
    readonly unfinished: (filter: {
      readonly dueBy?: number | undefined
      readonly after?: string | undefined
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<Placed>, StoreError>
    readonly get: (batchId: string) => Effect.Effect<Batch | undefined, StoreError>
    /** In order of receipt. */
    readonly members: (batchId: string) => Effect.Effect<ReadonlyArray<Member>, StoreError>
    /** Newest first. */
    readonly list: (filter: {
      readonly workspace?: string | undefined
      readonly status?: BatchStatus | undefined
      readonly before?: string | undefined
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<Batch>, StoreError>
    /** Removes ended batches beyond the newest `maxCount` ended ones, or opened before `before`. Answers how many. */
    readonly prune: (keep: { readonly maxCount: number; readonly before: number }) => Effect.Effect<number, StoreError>
  }
>()("aicr/store/Batches") {}
