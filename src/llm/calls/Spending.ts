/** Executes one request to a model with a budget reservation before it, which is settled or refunded after every outcome. */
import { Effect, Exit, Metric } from "effect"
import type { Reason } from "../../domain/Reason.ts"
import { teamCap } from "../../config/DayCaps.ts"
import type { LlmConfig } from "../../config/schema/Llm.ts"
import { newId } from "../../domain/Ids.ts"
import { ReservationId } from "../../domain/Keys.ts"
import { formatUsd, noMoney } from "../../domain/Money.ts"
import type { Usd } from "../../domain/Money.ts"
import type { Budget, Caps, Reserved } from "../Budget.ts"
import { budgetRefusals } from "../../observability/Metrics.ts"
import type { ModelSpec } from "../catalog/ModelRecord.ts"
import { toTokens } from "./Conversation.ts"
import { failure } from "./Failure.ts"
import type { Failure } from "./Failure.ts"
import type { GatewayUsage } from "../Gateway.ts"
import { ModelRun } from "../ModelRun.ts"
import { costUsd } from "./Pricing.ts"
import type { Reception } from "./ResponseReader.ts"

/** Characters per token, a conservative estimate for code. */
const charsPerToken = 3
/** Expected maximum length of a response; a longer one exceeds the estimate. */
const responseTokens = 4096

/** Undefined if the price is unknown. */
export const estimateUsd = ({ price, maxOutputTokens }: ModelSpec, characters: number): Usd | undefined =>
  costUsd(price, {
    inputTokens: Math.ceil(characters / charsPerToken),
    outputTokens: Math.min(maxOutputTokens ?? responseTokens, responseTokens),
    cachedTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0
  })

/**
 * Returns the usage of a call that ended early: what the provider reported, else an estimate; undefined if nothing arrived. Output
 * counts at least as much as arrived of it, because reports before the end lag behind.
 */
export const receivedUsage = (receipt: Reception, spec: ModelSpec, characters: number): GatewayUsage | undefined => {
  if (!receipt.hasBegun) return undefined
  const reported = toTokens(receipt.usage)
  const { inputTokens, outputTokens = 0, ...cache } = receipt.partialUsage
  const usage =
    reported.inputTokens > 0
      ? reported
      : {
          ...reported,
          ...cache,
          inputTokens: inputTokens ?? Math.ceil(characters / charsPerToken),
          outputTokens: Math.max(outputTokens, Math.ceil(receipt.characters / charsPerToken))
        }
  return { ...usage, costUsd: costUsd(spec.price, usage) }
}

export const spending =
  (
    budget: Budget["Service"],
    llm: LlmConfig,
    spec: ModelSpec,
    characters: number,
    received: () => GatewayUsage | undefined
  ) =>
  <A extends { readonly usage: GatewayUsage }>(
    request: Effect.Effect<A, Failure>
  ): Effect.Effect<A, Failure, ModelRun> =>
    Effect.gen(function* () {
      const account = yield* ModelRun
      const { isOwn, usd: perTeamDailyUsd } = teamCap(llm.budget, account.team)
      const caps: Caps = {
        perRunUsd: llm.budget.per_run_usd,
        perRepoDailyUsd: llm.budget.per_repo_daily_usd,
        perAuthorDailyUsd: llm.budget.per_author_daily_usd,
        perTeamDailyUsd
      }
      const usd = estimateUsd(spec, characters)
      if (usd === undefined) {
        return Object.values(caps).every((cap) => cap === undefined)
          ? yield* request
          : yield* Effect.fail(failure("unpriced", { _tag: "PriceMissing" }))
      }
      const reservation = { id: ReservationId.make(newId()), run: account, usd, caps }
      const reserved = yield* budget
        .reserve(reservation)
        .pipe(Effect.mapError(({ why }) => failure("unavailable", { _tag: "LedgerUnavailable", reason: why })))
      if (reserved._tag === "Refused") {
        const isOfTeam = reserved.cap === "per_team_daily_usd"
        const cap = isOfTeam && isOwn ? "team_daily_usd" : reserved.cap
        const team = isOfTeam ? (account.team ?? "") : ""
        yield* Metric.update(Metric.withAttributes(budgetRefusals, { cap, team }), 1)
        return yield* Effect.fail(failure("budget", usedUp(reserved, cap)))
      }
      return yield* request.pipe(
        Effect.onExit((exit) => {
          const spent = spentUsd(exit, usd, received())
          return spent === noMoney ? budget.refund(reservation) : budget.settle(reservation, spent)
        })
      )
    })

/**
 * Returns what a request counts: a response what it cost, one that ended early what arrived of it. The provider may charge a request
 * whose response is unknown, because it timed out or was interrupted, and one whose response is a refusal of the model: these count with
 * their estimate. A request that failed otherwise counts nothing.
 */
const spentUsd = <A extends { readonly usage: GatewayUsage }>(
  exit: Exit.Exit<A, Failure>,
  estimate: Usd,
  received: GatewayUsage | undefined
): Usd => {
  if (Exit.isSuccess(exit)) return exit.value.usage.costUsd ?? estimate
  if (received !== undefined) return received.costUsd ?? estimate
  const [reason] = exit.cause.reasons
  return reason?._tag === "Fail" && reason.error.kind !== "timeout" && reason.error.kind !== "refused"
    ? noMoney
    : estimate
}

const usedUp = ({ capUsd, committedUsd }: Extract<Reserved, { readonly _tag: "Refused" }>, cap: string): Reason => ({
  _tag: "BudgetUsedUp",
  spent: formatUsd(committedUsd, 2),
  limit: formatUsd(capUsd, 2),
  cap
})
