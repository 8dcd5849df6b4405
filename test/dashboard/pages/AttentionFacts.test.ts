/** Tests what of the lists that pages read anyway needs attention, and what does not. */
import { expect, it } from "vitest"
import {
  brokenConnections,
  brokenHooks,
  countRejected,
  countWaiting,
  silentTriggers,
  usedBudgets,
  usedShare
} from "../../../src/dashboard/pages/AttentionFacts.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"

const reason = verbatimReason("busy")
const since = "2026-01-01T00:00:00Z"

it("reviews that wait for a provider or a credential are counted by the reason; others are not", () => {
  expect(
    countWaiting([
      { waiting_since: since, reason: { _tag: "ProviderRefuses", reason } },
      { waiting_since: since, reason: { _tag: "AwaitsCredential", trigger: "main", why: reason } },
      { waiting_since: since, reason: { _tag: "ProviderUnreachable", reason } },
      { waiting_since: since, reason: { _tag: "ProviderUnreachable", reason } },
      { waiting_since: since, reason: { _tag: "HostRequestFailed", reason } },
      { waiting_since: since },
      // It works again.
      { reason: { _tag: "ProviderRefuses", reason } }
    ])
  ).toEqual([
    ["AwaitsCredential", 1],
    ["ProviderRefuses", 1],
    ["ProviderUnreachable", 2]
  ])
  expect(countWaiting([])).toEqual([])
})

const budget = (limit: number | null, spent: number, reserved = 0) => ({
  scope: "repository" as const,
  name: `${limit} ${spent} ${reserved}`,
  window: "day" as const,
  limit_usd: limit,
  spent_usd: spent,
  reserved_usd: reserved,
  resets_at: since
})

it("a budget is used up when its spend and its calls in flight reach the cap", () => {
  const used = [budget(5, 5), budget(5, 7), budget(5, 4, 1), budget(0, 0)]
  expect(usedBudgets([budget(null, 9), budget(5, 4.99), ...used])).toEqual(used)
  expect([budget(null, 9), budget(4, 1, 1)].map(usedShare)).toEqual([undefined, 0.5])
})

it("a chat connection is broken if it is enabled and fails, or is not reported", () => {
  const connection = (enabled: boolean, state: "ready" | "connecting" | "failing" | "disabled" | "unknown") => ({
    id: `${state} ${enabled}`,
    kind: "feishu" as const,
    enabled,
    state,
    receives: "callback" as const,
    open_requests: 0
  })
  const all = (["ready", "connecting", "failing", "disabled", "unknown"] as const).flatMap((state) =>
    [true, false].map((enabled) => connection(enabled, state))
  )
  expect(brokenConnections(all).map(({ id }) => id)).toEqual(["failing true", "unknown true"])
})

it("a trigger is silent if its deliveries ended, and if hosts or hooks call it", () => {
  const trigger = { name: "shop", kind: "gitea", enabled: true, last_delivery_at: since, deliveries_24h: 0 } as const
  const { last_delivery_at: _last, ...never } = trigger
  expect(
    silentTriggers([
      trigger,
      { ...trigger, name: "tree", kind: "subversion" },
      { ...trigger, name: "busy", deliveries_24h: 1 },
      { ...trigger, name: "off", enabled: false },
      { ...trigger, name: "calls", kind: "manual" },
      { ...never, name: "new" }
    ])
  ).toEqual(["shop", "tree"])
})

it("a delivery with a wrong signature is counted once, although each trigger of its host counts it", () => {
  const item = (trigger: string, provider: "gitea" | "github", hour: string, count: number) => ({
    trigger,
    provider,
    hour,
    count
  })
  expect(
    countRejected([
      item("a", "gitea", since, 3),
      item("b", "gitea", since, 3),
      item("c", "github", since, 1),
      item("a", "gitea", "2026-01-01T01:00:00Z", 2)
    ])
  ).toBe(6)
  expect(countRejected([])).toBe(0)
})

it("webhooks are broken that are missing or have problems, of enabled triggers", () => {
  const trigger = (name: string, missing: number, broken: number, enabled = true) => ({
    name,
    enabled,
    inventory: { repositories: 9, served: 0, complete: 4, missing, broken, unreadable: 3, created: 0, repaired: 0 }
  })
  const triggers = [trigger("a", 1, 2), trigger("b", 0, 0), trigger("c", 0, 1), trigger("d", 5, 5, false)]
  expect(brokenHooks([...triggers, { name: "e", enabled: true }])).toEqual({ count: 4, names: ["a", "c"] })
})
