/**
 * The outbox of notices to operators; states: domain/Notice.ts. A key and a channel have at most one row, so that storing a notice again,
 * from any node, adds nothing. One sender exists at a time: a sender that was frozen while another one took over holds an old token, with
 * which it changes nothing.
 */
import { Context } from "effect"
import type { Effect } from "effect"
import type { StoreError } from "../database/StoreError.ts"
import type { NewNotice, Notice, NoticeKind, NoticeStatus } from "../domain/Notice.ts"
import type { Reason } from "../domain/Reason.ts"
import type { IdRange } from "./ListOrder.ts"

export interface NoticeUpdate {
  readonly status: NoticeStatus
  readonly notBefore?: number | undefined
  readonly error?: Reason | undefined
  /** True if it counts for `attempts`. */
  readonly isAttempt?: boolean | undefined
}

/** Deliveries that ended together without a review. */
export interface EndedDeliveries {
  readonly outcome: "failed" | "expired"
  /** The first of them. */
  readonly eventId: string
  readonly events: number
  readonly endedAt: number
}

export interface NoticeFilter extends IdRange {
  readonly kind?: NoticeKind | undefined
  readonly status?: NoticeStatus | undefined
  readonly channel?: string | undefined
  readonly limit: number
}

export class Notices extends Context.Service<
  Notices,
  {
    /** Adds those that do not exist; returns how many. */
    readonly add: (notices: ReadonlyArray<NewNotice>, now: number) => Effect.Effect<number, StoreError>
    /** Makes the caller the only sender and returns its token. */
    readonly takeOver: Effect.Effect<number, StoreError>
    readonly isSender: (token: number) => Effect.Effect<boolean, StoreError>
    /** Returns whether there is an unsent row, also one that waits. */
    readonly hasOpen: Effect.Effect<boolean, StoreError>
    /** Returns the number of unsent rows by channel. */
    readonly waiting: Effect.Effect<ReadonlyMap<string, number>, StoreError>
    /** Returns the oldest unsent rows that need no longer wait. */
    readonly open: (now: number, limit: number) => Effect.Effect<ReadonlyArray<Notice>, StoreError>
    /** Compare-and-set. Returns false if the row is no longer in `from`, or another sender took over. */
    readonly move: (
      id: string,
      from: NoticeStatus,
      update: NoticeUpdate,
      token: number,
      now: number
    ) => Effect.Effect<boolean, StoreError>
    /** Returns the times of the messages of a channel since `since`, oldest first. */
    readonly sentSince: (channel: string, since: number) => Effect.Effect<ReadonlyArray<number>, StoreError>
    /** Lists rows, newest first unless `oldestFirst`. */
    readonly list: (filter: NoticeFilter) => Effect.Effect<ReadonlyArray<Notice>, StoreError>
    /** Returns deliveries that ended without a review after `after`, those that ended together as one, oldest first. */
    readonly ended: (
      after: Pick<EndedDeliveries, "endedAt" | "eventId">,
      limit: number
    ) => Effect.Effect<ReadonlyArray<EndedDeliveries>, StoreError>
    /** Time up to which ended deliveries were scanned. */
    readonly scannedTo: Effect.Effect<number | undefined, StoreError>
    /** Undefined forgets it. */
    readonly setScannedTo: (time: number | undefined) => Effect.Effect<void, StoreError>
    /** Removes ended rows beyond `maxCount` or from before `before`. Returns how many. */
    readonly prune: (keep: { readonly maxCount: number; readonly before: number }) => Effect.Effect<number, StoreError>
  }
>()("aicr/store/Notices") {}
