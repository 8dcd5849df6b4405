/**
 * What model calls cost, durably: accounts per run, per repository and UTC day, and per author and UTC day, and the reservations that stand open. An
 * account never passes its cap, whoever reserves at the same time on whichever node: the check and the addition are one
 * statement of the database.
 */
import { Context } from "effect"
import type { Effect } from "effect"
import type { StoreError } from "../database/StoreError.ts"
import type { Usd } from "../domain/Money.ts"

export interface LedgerReservation {
  readonly id: string
  readonly runId: string
  readonly repository: string
  /** UTC day, `2026-01-31`. */
  readonly day: string
  readonly usd: Usd
  /** undefined: no cap. */
  readonly runCapUsd: Usd | undefined
  readonly dayCapUsd: Usd | undefined
  /** Whose day it is as well, and their cap. Absent where nobody is named. */
  readonly author?: string | undefined
  readonly authorCapUsd?: Usd | undefined
  /** The process that asks: whose reservations are closed when it is gone. */
  readonly owner: string
}

export type LedgerAnswer =
  | { readonly _tag: "Reserved" }
  | { readonly _tag: "Refused"; readonly account: "run" | "day" | "author"; readonly committedUsd: Usd }

export class Ledger extends Context.Service<
  Ledger,
  {
    /** A reservation that is known already, open or closed, is answered as `Reserved` and changes nothing. */
    readonly reserve: (reservation: LedgerReservation, now: number) => Effect.Effect<LedgerAnswer, StoreError>
    /** Puts the real amount in place of the estimate. A reservation that is unknown or closed stays as it is. */
    readonly settle: (id: string, usd: Usd, now: number) => Effect.Effect<void, StoreError>
    /** Takes the estimate back. A reservation that is refunded before it is made is never made. */
    readonly refund: (id: string, now: number) => Effect.Effect<void, StoreError>
    /**
     * Closes open reservations of processes that are gone, or older than `before`. Their requests may have reached the
     * provider, so the estimate counts as spent. Answers how many.
     */
    readonly closeLost: (
      lost: (owner: string) => boolean,
      before: number,
      now: number
    ) => Effect.Effect<number, StoreError>
    /**
     * Counts a review towards an author's hour, unless that passes `max`: false then. The same `id` counts once, and stays counted for
     * the hour it came in.
     */
    readonly countReview: (
      review: { readonly id: string; readonly author: string; readonly hour: string; readonly max: number },
      now: number
    ) => Effect.Effect<boolean, StoreError>
    /** Spent and reserved. */
    readonly committed: (
      account:
        | { readonly runId: string }
        | { readonly repository: string; readonly day: string }
        | { readonly author: string; readonly day: string }
    ) => Effect.Effect<Usd, StoreError>
    /** Removes closed reservations and accounts that nothing touched since `before`. */
    readonly prune: (before: number) => Effect.Effect<number, StoreError>
  }
>()("aicr/store/Ledger") {}
