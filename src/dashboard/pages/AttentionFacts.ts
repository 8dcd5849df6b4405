/** Selects what needs attention from the lists that pages read. Pure. */
import { isCalledByHosts } from "../../domain/Kinds.ts"
import type { Item } from "../client/Endpoints.ts"
import { sum } from "./Numbers.ts"

type Run = Pick<Item<"GET /runs">, "reason" | "waiting_since">
type Budget = Item<"GET /budgets">
type Connection = Item<"GET /chat/connections">
type Trigger = Item<"GET /triggers">
type Rejected = Pick<Item<"GET /rejected-signatures">, "count" | "hour" | "provider">

const waitingReasons = ["AwaitsCredential", "ProviderRefuses", "ProviderUnreachable"] as const
type WaitingReason = (typeof waitingReasons)[number]

/** Counts the reviews that wait for a credential or a model provider, by the reason. */
export const countWaiting = (runs: ReadonlyArray<Run>): ReadonlyArray<readonly [WaitingReason, number]> => {
  const waiting = runs.filter(({ waiting_since: since }) => since !== undefined)
  return waitingReasons
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

/** Counts deliveries. One that no trigger verified is counted at every trigger of its host: the most of an hour is their number. */
export const countRejected = (items: ReadonlyArray<Rejected>): number => {
  const most = new Map<string, number>()
  for (const { count, hour, provider } of items) {
    const key = `${hour} ${provider}`
    most.set(key, Math.max(most.get(key) ?? 0, count))
  }
  return sum([...most.values()])
}

/** Counts the webhooks that are missing or broken, and returns the triggers that have some. */
export const brokenHooks = (
  triggers: ReadonlyArray<Pick<Trigger, "enabled" | "inventory" | "name">>
): { readonly count: number; readonly names: ReadonlyArray<string> } => {
  const broken = triggers
    .filter(({ enabled }) => enabled)
    .map(({ inventory, name }) => ({ name, count: (inventory?.missing ?? 0) + (inventory?.broken ?? 0) }))
    .filter(({ count }) => count > 0)
  return { count: sum(broken.map(({ count }) => count)), names: broken.map(({ name }) => name) }
}

/** Returns the enabled triggers that had deliveries in the last week, and none in the last 24 hours. */
export const silentTriggers = (
  triggers: ReadonlyArray<Pick<Trigger, "deliveries_24h" | "enabled" | "kind" | "last_delivery_at" | "name">>
): ReadonlyArray<string> =>
  triggers.flatMap(({ deliveries_24h: count, enabled, kind, last_delivery_at: last, name }) =>
    enabled && isCalledByHosts(kind) && last !== undefined && count === 0 ? [name] : []
  )
