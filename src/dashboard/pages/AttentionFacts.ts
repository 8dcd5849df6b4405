/** Selects what needs attention from the lists that pages read. Pure. */
import type { Item } from "../client/Endpoints.ts"

type Run = Pick<Item<"GET /runs">, "reason" | "waiting_since">
type Budget = Item<"GET /budgets">
type Connection = Item<"GET /chat/connections">

const providerReasons = ["ProviderRefuses", "ProviderUnreachable"] as const
export type ProviderReason = (typeof providerReasons)[number]

/** Counts the reviews that wait for a model provider, by the reason. */
export const countWaiting = (runs: ReadonlyArray<Run>): ReadonlyArray<readonly [ProviderReason, number]> => {
  const waiting = runs.filter(({ waiting_since: since }) => since !== undefined)
  return providerReasons
    .map((name) => [name, waiting.filter(({ reason }) => reason?._tag === name).length] as const)
    .filter(([, count]) => count > 0)
}

/** Returns the used part of a cap, with estimates of calls in flight: 1 if nothing is left. Undefined: it has no cap. */
export const usedShare = ({
  limit_usd: limit,
  reserved_usd: reserved,
  spent_usd: spent
}: Pick<Budget, "limit_usd" | "reserved_usd" | "spent_usd">): number | undefined => {
  if (limit === null) return undefined
  return limit === 0 ? 1 : Math.min((spent + reserved) / limit, 1)
}

/** Returns the budgets of which nothing is left. */
export const usedBudgets = (budgets: ReadonlyArray<Budget>): ReadonlyArray<Budget> =>
  budgets.filter((budget) => usedShare(budget) === 1)

/** Returns the chat connections that are enabled and do not work, or that no node reports. */
export const brokenConnections = (connections: ReadonlyArray<Connection>): ReadonlyArray<Connection> =>
  connections.filter(({ enabled, state }) => enabled && (state === "failing" || state === "unknown"))
