/**
 * Publications waiting to be sent or already sent. Rows are created by `Runs.complete`; states: domain/Publication.ts.
 *
 * A target has one publisher at a time. Whoever starts to publish to it takes it over and gets a token; a publisher that was
 * frozen and thaws after another one took over holds an old token, with which it changes nothing.
 */
import { Context } from "effect"
import type { Effect } from "effect"
import type { PublisherToken } from "../domain/FencingToken.ts"
import type { IgnoredDismissal, Operation, Publication, PublicationStatus } from "../domain/Publication.ts"
import type { StoreError } from "../database/StoreError.ts"

export interface PublicationUpdate {
  readonly status: PublicationStatus
  readonly notBefore?: number | undefined
  readonly hostId?: string | undefined
  readonly url?: string | undefined
  readonly error?: string | undefined
  readonly ignoredDismissals?: ReadonlyArray<IgnoredDismissal> | undefined
  /** The host failed a write: counts for `attempts`. */
  readonly isAttempt?: boolean | undefined
}

export class Outbox extends Context.Service<
  Outbox,
  {
    /** Adds rows outside an analysis (status updates). Rows whose `operationId` exists are left as they are. */
    readonly add: (rows: ReadonlyArray<Publication>, now: number) => Effect.Effect<void, StoreError>
    /**
     * Rows of a target that are not finished, in the order in which they are to be sent: all of a run before those of a later one,
     * also those that its own rows led to.
     */
    readonly open: (targetKey: string) => Effect.Effect<ReadonlyArray<Publication>, StoreError>
    /** All rows of a run, in order. */
    readonly ofRun: (runId: string) => Effect.Effect<ReadonlyArray<Publication>, StoreError>
    /**
     * Makes the caller the target's only publisher. Answers its token. Counts a start, before anything of the target is handled: a
     * process that dies while it handles a row leaves the count as it is.
     */
    readonly takeOver: (targetKey: string, now: number) => Effect.Effect<PublisherToken, StoreError>
    /** Starts of publishers of a target since the last one that `progressed`, that of the caller included. */
    readonly starts: (targetKey: string) => Effect.Effect<number, StoreError>
    /** The caller handled a row and is alive: the count begins again. Without effect for an old token. */
    readonly progressed: (targetKey: string, token: PublisherToken) => Effect.Effect<void, StoreError>
    /** Whether nobody took the target over since: asked right before each write to the host. */
    readonly holds: (targetKey: string, token: PublisherToken) => Effect.Effect<boolean, StoreError>
    /**
     * Compare-and-set. False when the row is no longer in `from`, or another publisher took its target over.
     */
    readonly move: (
      id: string,
      from: PublicationStatus,
      update: PublicationUpdate,
      token: PublisherToken,
      now: number
    ) => Effect.Effect<boolean, StoreError>
    /** Targets with open rows; woken at start and by the sweeper. */
    readonly targets: Effect.Effect<ReadonlyArray<string>, StoreError>
    /** The newest sent row of a channel and operation kind for a target, of another run: where a managed summary lives. */
    readonly lastSent: (
      targetKey: string,
      channel: string,
      kind: Operation["_tag"],
      runId: string
    ) => Effect.Effect<Publication | undefined, StoreError>
  }
>()("aicr/store/Outbox") {}
