/**
 * Publications that wait or were sent. `Runs.complete` creates the rows; states: domain/Publication.ts.
 *
 * A target has one publisher at a time. A publisher takes the target over and gets a token. A publisher that was frozen while another one
 * took over holds an old token, with which it changes nothing.
 */
import { Context } from "effect"
import type { Effect } from "effect"
import type { PublisherToken } from "../domain/FencingToken.ts"
import type { OperationId } from "../domain/Keys.ts"
import { TargetKey } from "../domain/Keys.ts"
import type {
  DatedPublication,
  IgnoredDismissal,
  ListedFinding,
  Operation,
  Publication,
  PublicationStatus,
  Reaction
} from "../domain/Publication.ts"
import type { Reason } from "../domain/Reason.ts"
import type { WrittenRecords } from "../forge/WriteOwner.ts"
import type { StoreError } from "../database/StoreError.ts"

export interface PublicationUpdate {
  readonly status: PublicationStatus
  readonly notBefore?: number | undefined
  readonly hostId?: string | undefined
  readonly url?: string | undefined
  readonly error?: Reason | undefined
  readonly ignoredDismissals?: ReadonlyArray<IgnoredDismissal> | undefined
  readonly reactions?: ReadonlyArray<Reaction> | undefined
  readonly posted?: ReadonlyArray<string> | undefined
  readonly listed?: ReadonlyArray<ListedFinding> | undefined
  /** True if the host failed a write, which counts for `attempts`. */
  readonly isAttempt?: boolean | undefined
}

/** The ownership of a target: `starts` counts consecutive publishers that completed no row, including the owner. */
interface TakenTarget {
  readonly token: PublisherToken
  readonly starts: number
}

/** Newest rows of a kind by which texts are recognised that people changed. */
export const maxSent = { Review: 50, Issue: 200 } as const

export class Outbox extends Context.Service<
  Outbox,
  {
    /** Adds rows outside an analysis (status updates). Existing rows with the same `operationId` do not change. */
    readonly add: (rows: ReadonlyArray<Publication>, now: number) => Effect.Effect<void, StoreError>
    /**
     * Returns the unfinished rows of a target in the order of sending: all of a run before those of a later one, including rows that were
     * added while sending.
     */
    readonly open: (targetKey: TargetKey) => Effect.Effect<ReadonlyArray<Publication>, StoreError>
    /** Returns all rows of a run with their times, in order. */
    readonly history: (runId: string) => Effect.Effect<ReadonlyArray<DatedPublication>, StoreError>
    /** Returns the row of an operation, whatever became of it. */
    readonly recorded: (operationId: OperationId) => Effect.Effect<Publication | undefined, StoreError>
    /** Returns all rows of a run, in order. */
    readonly ofRun: (runId: string) => Effect.Effect<ReadonlyArray<Publication>, StoreError>
    /**
     * Commits all that an effect writes to the records in one transaction, or nothing of it. The effect may be repeated, and holds a connection,
     * of which SQLite has one: it waits for nothing but the records.
     */
    readonly together: <A, R>(work: Effect.Effect<A, StoreError, R>) => Effect.Effect<A, StoreError, R>
    /**
     * Makes the caller the target's only publisher and returns its token, and the number of starts of the target's publishers since the last
     * `progressed`, including the caller's. Counts a start before any row is handled: a process that dies while it handles a row leaves the
     * count unchanged.
     */
    readonly takeOver: (targetKey: TargetKey, now: number) => Effect.Effect<TakenTarget, StoreError>
    /** Resets the count of starts after the caller has handled a row. No effect with an old token. */
    readonly progressed: (targetKey: TargetKey, token: PublisherToken) => Effect.Effect<void, StoreError>
    /** Returns whether the caller still owns the target. Called right before each write to the host. */
    readonly isOwner: (targetKey: TargetKey, token: PublisherToken) => Effect.Effect<boolean, StoreError>
    /** Compare-and-set. Returns false if the row is no longer in `from`, or another publisher owns its target. */
    readonly move: (
      id: string,
      from: PublicationStatus,
      update: PublicationUpdate,
      token: PublisherToken,
      now: number
    ) => Effect.Effect<boolean, StoreError>
    /**
     * Moves a commit status to `sending`, unless another publisher is sending a status of the same commit (`busy`), the row is no longer in
     * `from`, or another publisher owns its target (`lost`). So the statuses of one commit are written one after the other.
     */
    readonly startStatus: (
      row: Publication,
      from: PublicationStatus,
      token: PublisherToken,
      now: number
    ) => Effect.Effect<"started" | "busy" | "lost", StoreError>
    /** Returns the ids that hosts returned for the other statuses of a row's commit in its repository, and whether one may be missing. */
    readonly writtenStatus: (
      row: Pick<Publication, "id" | "targetKey">,
      head: string
    ) => Effect.Effect<WrittenRecords, StoreError>
    /** Targets with open rows; woken at start and by the sweeper. */
    readonly targets: Effect.Effect<ReadonlyArray<TargetKey>, StoreError>
    /** Counts the rows that wait because a host refuses the credential of a trigger, by trigger. */
    readonly awaitingCredentials: Effect.Effect<ReadonlyMap<string, number>, StoreError>
    /**
     * Returns the newest sent row of an operation kind for a target: the location of a managed summary. Of one channel, and of other runs than
     * the given one, as far as they are named. A summary that was posted with a review counts as a review too.
     */
    readonly lastSent: (
      targetKey: TargetKey,
      kind: Operation["_tag"],
      options: { readonly channel?: string; readonly notOf?: string | undefined }
    ) => Effect.Effect<Publication | undefined, StoreError>
    /** Returns the reviews that were sent on a channel since a time, to one address if it is named, the newest first; at most 100. */
    readonly sentReviews: (
      channel: string,
      options: { readonly url?: string; readonly since: number }
    ) => Effect.Effect<ReadonlyArray<Publication>, StoreError>
    /**
     * Returns what other runs sent to a target on a channel, the newest first; at most `maxSent`. A summary that was posted with a review counts
     * as a review.
     */
    readonly sentRows: (
      row: Pick<Publication, "targetKey" | "channel" | "runId">,
      kind: keyof typeof maxSent
    ) => Effect.Effect<ReadonlyArray<Publication>, StoreError>
  }
>()("aicr/store/Outbox") {}
