/**
 * Records of batches of automatic commits; states: domain/Batch.ts. The record contains the pushes of a batch and its outcome; the queue
 * entry contains the state of its review.
 */
import { Context, Schema } from "effect"
import type { Effect } from "effect"
import { BatchStatus, MemberStatus } from "../domain/Batch.ts"
import { Change } from "../domain/Change.ts"
import type { StoreError } from "../database/StoreError.ts"
import { TargetKey } from "../domain/Keys.ts"
import { Reason } from "../domain/Reason.ts"
import * as Field from "../domain/Field.ts"
import { record } from "../domain/Record.ts"
import type { RecordValues } from "../domain/Record.ts"

export const Batch = record({
  id: Field.text,
  /** Target key of the branch. Batches of one stream are reviewed one after the other. */
  stream: Field.stored(TargetKey),
  workspace: Field.text,
  /** The newest push; `base`, `head` and `commits` are those of the whole batch. */
  change: Field.json(Change),
  configHash: Field.text,
  priority: Field.integer,
  status: Field.stored(BatchStatus),
  commits: Field.integer,
  /** Time at which its first push was received. */
  firstAt: Field.time,
  /** Time at which it is sealed and may be reviewed. */
  dueAt: Field.time,
  /** Its entry in the queue, set once it is the first of its stream. */
  entryId: Field.optional(Field.text),
  /** Reason for waiting or for the end. */
  reason: Field.optional(Field.reason),
  runId: Field.optional(Field.text),
  finishedAt: Field.optional(Field.time)
})
export type Batch = RecordValues<typeof Batch>

export const Member = record({
  eventId: Field.text,
  before: Field.named("before_id", Field.optional(Field.text)),
  after: Field.named("after_id", Field.text),
  commits: Field.integer,
  receivedAt: Field.time,
  status: Field.stored(MemberStatus),
  /** Ids of the commits of a push that a search found. */
  covers: Field.optional(Field.json(Schema.Array(Schema.String)))
})
export type Member = RecordValues<typeof Member>

/** A push that is in a batch. */
export const PlacedMember = record({ ...Member.fields, batchId: Field.text, stream: Field.stored(TargetKey) })
export type PlacedMember = RecordValues<typeof PlacedMember>

/** A push to put into a batch. `dueAt` is the due time of a batch that it opens. */
export interface PushReceived {
  readonly eventId: string
  readonly change: Change
  readonly configHash: string
  readonly priority: number
  readonly admittedAt: number
  readonly dueAt: number
}

export interface Joined {
  /** The batch including the push. */
  readonly batch: Batch
  readonly how: "opened" | "joined" | "known"
  /** True if no earlier batch of the stream is unfinished: this one has to be in the queue. */
  readonly first: boolean
}

export interface Placed {
  readonly batch: Batch
  /** True if no earlier batch of the stream is unfinished. */
  readonly first: boolean
}

interface BatchUpdate {
  readonly status: BatchStatus
  readonly reason?: Reason | undefined
  readonly runId?: string | undefined
}

export class Batches extends Context.Service<
  Batches,
  {
    /**
     * Puts pushes into batches, in one transaction: into the open one of the stream while that is not due and has room (4096 commits),
     * otherwise into a new one. A push that is in a batch already stays there. Returns one result per push, in order.
     */
    readonly join: (pushes: ReadonlyArray<PushReceived>) => Effect.Effect<ReadonlyArray<Joined>, StoreError>
    /**
     * Returns the pushes with one of these heads, and those that searches found, in batches of these streams that are going to be reviewed or
     * were.
     */
    readonly placed: (
      streams: ReadonlyArray<TargetKey>,
      heads: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<PlacedMember>, StoreError>
    /** Updates the record and its members to the state of the review. Ended batches do not change. Returns false if nothing changed. */
    readonly follow: (batchId: string, update: BatchUpdate, now: number) => Effect.Effect<boolean, StoreError>
    /** Records the queue entries of these unfinished batches, in one transaction. */
    readonly entered: (
      batches: ReadonlyArray<{ readonly batchId: string; readonly entryId: string }>
    ) => Effect.Effect<void, StoreError>
    /** Moves the batch of this entry dead -> ready, when an operator retries it. */
    readonly reopen: (entryId: string) => Effect.Effect<void, StoreError>
    /**
     * Returns unfinished batches that were due by `dueBy`, or are neither due nor in the queue though they are the first of their stream;
     * oldest first, after the given id, at most `limit`. Without `dueBy`: all unfinished ones. `stream`: only those of this stream.
     */
    readonly unfinished: (filter: {
      readonly dueBy?: number | undefined
      readonly stream?: TargetKey | undefined
      readonly after?: string | undefined
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<Placed>, StoreError>
    readonly get: (batchId: string) => Effect.Effect<Batch | undefined, StoreError>
    /** Returns the members in order of receipt. */
    readonly members: (batchId: string) => Effect.Effect<ReadonlyArray<Member>, StoreError>
    /** Lists batches, newest first. */
    readonly list: (filter: {
      readonly workspace?: string | undefined
      readonly status?: BatchStatus | undefined
      readonly before?: string | undefined
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<Batch>, StoreError>
    /** Removes ended batches beyond the newest `maxCount` ended ones, or opened before `before`. Returns how many. */
    readonly prune: (keep: { readonly maxCount: number; readonly before: number }) => Effect.Effect<number, StoreError>
  }
>()("aicr/store/Batches") {}
