/**
 * Records the cost of model calls durably: accounts per run, and per repository, author or team and UTC day, and the open
 * reservations. An account never exceeds its cap, whatever reservations run concurrently on any node: the check and the addition are one
 * statement of the database.
 */
import { Context } from "effect"
import type { Effect } from "effect"
import type { StoreError } from "../database/StoreError.ts"
import type { ReservationId } from "../domain/Keys.ts"
import type { Usd } from "../domain/Money.ts"

export interface LedgerReservation {
  readonly id: ReservationId
  readonly runId: string
  readonly repository: string
  /** UTC day, `2026-01-31`. */
  readonly day: string
  readonly usd: Usd
  /** Undefined: no cap. */
  readonly runCapUsd: Usd | undefined
  readonly dayCapUsd: Usd | undefined
  /** Author whose day is charged as well, and the cap. Absent if there is no author. */
  readonly author?: string | undefined
  readonly authorCapUsd?: Usd | undefined
  /** Team whose day is charged as well, and the cap. Absent without a team. */
  readonly team?: string | undefined
  readonly teamCapUsd?: Usd | undefined
  /** The requesting process. Its reservations are closed when it is lost. */
  readonly owner: string
}

export type LedgerAccount = "run" | "day" | "author" | "team"

export type LedgerResult =
  | { readonly _tag: "Reserved" }
  | {
      readonly _tag: "Refused"
      readonly account: LedgerAccount
      /** Sum of spent and reserved amounts. */
      readonly committedUsd: Usd
      /** Reserved part of it, which may be refunded. */
      readonly openUsd: Usd
    }

/** Amounts of an account of a UTC day. */
export interface DayAccount {
  readonly kind: "repository" | "author" | "team"
  readonly name: string
  /** Settled amount. */
  readonly spentUsd: Usd
  /** Amount of the open reservations, for calls in flight. */
  readonly reservedUsd: Usd
}

export class Ledger extends Context.Service<
  Ledger,
  {
    /** Reserves an amount. An existing reservation, open or closed, returns `Reserved` and changes nothing. */
    readonly reserve: (reservation: LedgerReservation, now: number) => Effect.Effect<LedgerResult, StoreError>
    /** Replaces the estimate by the real amount. An unknown or closed reservation does not change. */
    readonly settle: (id: ReservationId, usd: Usd, now: number) => Effect.Effect<void, StoreError>
    /** Refunds the estimate. A reservation that is refunded before it arrives is never made. */
    readonly refund: (id: ReservationId, now: number) => Effect.Effect<void, StoreError>
    /**
     * Closes open reservations of lost processes, or older than `before`. Their requests may have reached the provider, so the estimate
     * counts as spent. Returns how many.
     */
    readonly closeLost: (
      lost: (owner: string) => boolean,
      before: number,
      now: number
    ) => Effect.Effect<number, StoreError>
    /**
     * Counts one item of a subject in a period, such as a review of an author in an hour. Returns false if that would exceed `max`. The same
     * `id` counts once, for its first period.
     */
    readonly count: (
      item: { readonly id: ReservationId; readonly subject: string; readonly period: string; readonly max: number },
      now: number
    ) => Effect.Effect<boolean, StoreError>
    /** Returns the sum of spent and reserved amounts. */
    readonly committed: (
      account:
        | { readonly runId: string }
        | { readonly repository: string; readonly day: string }
        | { readonly author: string; readonly day: string }
        | { readonly team: string; readonly day: string }
    ) => Effect.Effect<Usd, StoreError>
    /** Lists at most `limit` accounts of a UTC day, those with the largest amounts first. */
    readonly listDay: (day: string, limit: number) => Effect.Effect<ReadonlyArray<DayAccount>, StoreError>
    /** Removes closed reservations and accounts without changes since `before`. */
    readonly prune: (before: number) => Effect.Effect<number, StoreError>
  }
>()("aicr/store/Ledger") {}
