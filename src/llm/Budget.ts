/**
 * Money for model calls: an estimate is reserved before a call, the real cost settled after it, and refunded when nothing was
 * spent. Every step names the reservation, so that repeating it changes nothing.
 *
 * ```
 * reserve ──▶ open ──▶ settled   the response arrived, or the outcome of the request is unknown
 *    │         └─────▶ refunded  the provider refused, or was not reached
 *    └──▶ refused                a cap would be exceeded
 * ```
 */
import { Context, Effect, Layer, Schema } from "effect"
import { Reason } from "../domain/Reason.ts"
import { inEnglish } from "../text/en.ts"
import type { ReservationId } from "../domain/Keys.ts"
import { addUsd, exceeds, noMoney, subtractUsd } from "../domain/Money.ts"
import type { Usd } from "../domain/Money.ts"
import type { ModelAccount } from "./ModelRun.ts"

export interface Caps {
  /** Undefined: no cap. */
  readonly perRunUsd: Usd | undefined
  readonly perRepoDailyUsd: Usd | undefined
  /** Applies if the account names an author. */
  readonly perAuthorDailyUsd?: Usd | undefined
}

export interface Reservation {
  readonly id: ReservationId
  readonly run: ModelAccount
  readonly usd: Usd
  readonly caps: Caps
}

export type Reserved =
  | { readonly _tag: "Reserved" }
  | {
      readonly _tag: "Refused"
      readonly cap: "per_run_usd" | "per_repo_daily_usd" | "per_author_daily_usd"
      readonly capUsd: Usd
      /** Amount that was spent and reserved before this call. */
      readonly committedUsd: Usd
    }

/** The ledger is unavailable. */
export class BudgetError extends Schema.TaggedError<BudgetError>()("BudgetError", { why: Reason }) {
  override get message(): string {
    return inEnglish(this.why)
  }
}

export class Budget extends Context.Service<
  Budget,
  {
    readonly reserve: (reservation: Reservation) => Effect.Effect<Reserved, BudgetError>
    /** Repeated in the background while the ledger is unavailable. */
    readonly settle: (reservation: Reservation, usd: Usd) => Effect.Effect<void>
    readonly refund: (reservation: Reservation) => Effect.Effect<void>
  }
>()("aicr/llm/Budget") {
  /** Budget of one process and one review, without persistence. */
  static readonly layerMemory: Layer.Layer<Budget> = Layer.sync(Budget, () => {
    const committed = new Map<string, Usd>()
    const open = new Map<ReservationId, Usd>()
    const of = (id: string): Usd => committed.get(id) ?? noMoney
    const close = ({ id, run }: Reservation, usd: Usd): void => {
      const reserved = open.get(id)
      if (reserved === undefined) return
      open.delete(id)
      for (const account of listAccounts(run)) committed.set(account, addUsd(subtractUsd(of(account), reserved), usd))
    }
    return Budget.of({
      reserve: ({ id, run, usd, caps }) =>
        Effect.sync((): Reserved => {
          if (open.has(id)) return { _tag: "Reserved" }
          const [runUsd = noMoney, dayUsd = noMoney, authorUsd] = listAccounts(run).map(of)
          const refusal = findExceededCap({ usd, caps, runUsd, dayUsd, authorUsd })
          if (refusal !== undefined) return refusal
          open.set(id, usd)
          for (const account of listAccounts(run)) committed.set(account, addUsd(of(account), usd))
          return { _tag: "Reserved" }
        }),
      settle: (reservation, usd) => Effect.sync(() => close(reservation, usd)),
      refund: (reservation) => Effect.sync(() => close(reservation, noMoney))
    })
  })
}

const listAccounts = ({ author, id, repository }: ModelAccount) => [
  `run:${id}`,
  `repository:${repository}`,
  ...(author === undefined ? [] : [`author:${author}`])
]

/** Returns whether a cap would be exceeded. Pure. */
const findExceededCap = (state: {
  readonly usd: Usd
  readonly caps: Caps
  readonly runUsd: Usd
  readonly dayUsd: Usd
  readonly authorUsd: Usd | undefined
}): Extract<Reserved, { readonly _tag: "Refused" }> | undefined => {
  const { usd, caps, runUsd, dayUsd, authorUsd } = state
  if (caps.perRunUsd !== undefined && exceeds(addUsd(runUsd, usd), caps.perRunUsd)) {
    return { _tag: "Refused", cap: "per_run_usd", capUsd: caps.perRunUsd, committedUsd: runUsd }
  }
  if (caps.perRepoDailyUsd !== undefined && exceeds(addUsd(dayUsd, usd), caps.perRepoDailyUsd)) {
    return { _tag: "Refused", cap: "per_repo_daily_usd", capUsd: caps.perRepoDailyUsd, committedUsd: dayUsd }
  }
  const { perAuthorDailyUsd: authorCap } = caps
  if (authorCap !== undefined && authorUsd !== undefined && exceeds(addUsd(authorUsd, usd), authorCap)) {
    return { _tag: "Refused", cap: "per_author_daily_usd", capUsd: authorCap, committedUsd: authorUsd }
  }
  return undefined
}
