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
  /** Applies if the account names a team. */
  readonly perTeamDailyUsd?: Usd | undefined
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
      readonly cap: "per_run_usd" | "per_repo_daily_usd" | "per_author_daily_usd" | "per_team_daily_usd"
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
    const close = ({ caps, id, run }: Reservation, usd: Usd): void => {
      const reserved = open.get(id)
      if (reserved === undefined) return
      open.delete(id)
      for (const { account } of listAccounts(run, caps))
        committed.set(account, addUsd(subtractUsd(of(account), reserved), usd))
    }
    return Budget.of({
      reserve: ({ id, run, usd, caps }) =>
        Effect.sync((): Reserved => {
          if (open.has(id)) return { _tag: "Reserved" }
          const accounts = listAccounts(run, caps)
          for (const { account, cap, capUsd } of accounts) {
            const committedUsd = of(account)
            if (capUsd !== undefined && exceeds(addUsd(committedUsd, usd), capUsd))
              return { _tag: "Refused", cap, capUsd, committedUsd }
          }
          open.set(id, usd)
          for (const { account } of accounts) committed.set(account, addUsd(of(account), usd))
          return { _tag: "Reserved" }
        }),
      settle: (reservation, usd) => Effect.sync(() => close(reservation, usd)),
      refund: (reservation) => Effect.sync(() => close(reservation, noMoney))
    })
  })
}

/** Returns the accounts of a call with their caps. Pure. */
const listAccounts = ({ author, id, repository, team }: ModelAccount, caps: Caps) => [
  { account: `run:${id}`, cap: "per_run_usd", capUsd: caps.perRunUsd } as const,
  { account: `repository:${repository}`, cap: "per_repo_daily_usd", capUsd: caps.perRepoDailyUsd } as const,
  ...(author === undefined
    ? []
    : [{ account: `author:${author}`, cap: "per_author_daily_usd", capUsd: caps.perAuthorDailyUsd } as const]),
  ...(team === undefined
    ? []
    : [{ account: `team:${team}`, cap: "per_team_daily_usd", capUsd: caps.perTeamDailyUsd } as const])
]
