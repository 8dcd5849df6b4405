import { describe, expect, it } from "vitest"
import { budgetFacts, endedFacts, mutedFacts, silentFacts } from "../../../actors/notices/NoticeFacts.ts"
import { refusedFacts } from "../../../actors/notices/RefusedConfiguration.ts"
import { reachedThreshold } from "../../../src/domain/Notice.ts"
import { Usd } from "../../../src/domain/Money.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import type { StoredEvent } from "../../../src/store/Receipts.ts"
import { change, event } from "../../store/Fixtures.ts"

const hour = 3_600_000

it("a muted rule has its owner and what maintainers decided", () => {
  const health = {
    repository: "main:team/one",
    id: "one",
    digest: "d",
    severity: "high",
    floor: 0.3,
    used: 30,
    firstUsedAt: 1,
    lastUsedAt: 2,
    mutedAt: 2,
    findings: 20,
    accepted: 3,
    dismissed: 9,
    ignored: 8,
    judged: 12,
    judgedAccepted: 2
  } as const
  const facts = {
    _tag: "rule_muted",
    repository: "main:team/one",
    rule: "one",
    digest: "d",
    judged: 12,
    accepted: 2,
    floor: 0.3
  }
  expect(mutedFacts(health)).toEqual(facts)
  expect(mutedFacts({ ...health, owner: "ada" })).toEqual({ ...facts, owner: "ada" })
})

describe("thresholds of a budget", () => {
  it.each([
    [4.99, undefined],
    [5, 50],
    [7.49, 50],
    [7.5, 75],
    [9, 90],
    [9.99, 90],
    [10, 100],
    [25, 100]
  ])("%s of 10 USD has reached %s", (spent, percent) => {
    expect(reachedThreshold(spent, 10)).toBe(percent)
  })

  it("are those of the account's own limit", () => {
    const account = { name: "team/one", spentUsd: Usd.make(4) }
    const budget = { per_repo_daily_usd: 5, per_author_daily_usd: 8, per_team_daily_usd: 4 }
    const facts = { day: "2026-01-31", spentUsd: 4, name: "team/one" }
    expect(budgetFacts({ ...account, kind: "repository" }, "2026-01-31", budget)).toMatchObject({
      ...facts,
      scope: "repository",
      percent: 75,
      capUsd: 5
    })
    expect(budgetFacts({ ...account, kind: "author" }, "2026-01-31", budget)).toMatchObject({
      ...facts,
      scope: "author",
      percent: 50,
      capUsd: 8
    })
    expect(budgetFacts({ ...account, kind: "team" }, "2026-01-31", budget)).toMatchObject({
      ...facts,
      scope: "team",
      percent: 100,
      capUsd: 4
    })
    const own = { ...budget, team_daily_usd: { "team/one": 8 } }
    expect(budgetFacts({ ...account, kind: "team" }, "2026-01-31", own)).toMatchObject({ percent: 50, capUsd: 8 })
    expect(budgetFacts({ ...account, kind: "author" }, "2026-01-31", { per_repo_daily_usd: 5 })).toBeUndefined()
    expect(budgetFacts({ ...account, kind: "repository" }, "2026-01-31", { per_repo_daily_usd: 0 })).toBeUndefined()
  })
})

describe("a silent webhook", () => {
  const trigger = { name: "main", kind: "gitea", enabled: true } as const
  const now = 100 * hour

  it.each([
    ["with a delivery within a day", trigger, now - 24 * hour + 1, undefined],
    ["without a delivery for a day", trigger, now - 24 * hour, { trigger: "main", lastAt: now - 24 * hour }],
    ["that is disabled", { ...trigger, enabled: false }, now - 25 * hour, undefined],
    ["that is scheduled", { ...trigger, kind: "scheduled" } as const, now - 25 * hour, undefined],
    ["of Perforce", { ...trigger, kind: "perforce" } as const, now - 25 * hour, { trigger: "main" }],
    ["that is not configured", undefined, now - 25 * hour, undefined]
  ])("%s", (_, profile, lastAt, facts) => {
    const found = silentFacts(profile, lastAt, now)
    expect([found].filter((one) => one !== undefined)).toMatchObject(facts === undefined ? [] : [facts])
  })
})

describe("deliveries without a review", () => {
  const stored = (over: Partial<StoredEvent> = {}): StoredEvent => ({
    ...event(),
    outcome: "failed",
    outcomeReason: verbatimReason("no model responded"),
    outcomeAt: 5,
    runId: "run-1",
    duplicates: 0,
    duplicatedAt: undefined,
    ...over
  })
  const ended = { outcome: "failed", eventId: "e", events: 2, endedAt: 5 } as const

  it("that failed name the change, its author, the reason and the run", () => {
    const work = {
      change: { ...change(), author: { username: "dana" }, url: "https://git.example/7" },
      configHash: "c0ffee",
      priority: 1,
      dueAt: 1
    }
    expect(endedFacts(stored({ work }), ended, 72, { base_url: "https://aicr.example" })).toMatchObject({
      _tag: "review_failed",
      repository: "Acme/App",
      number: 7,
      author: "dana",
      url: "https://git.example/7",
      reason: verbatimReason("no model responded"),
      events: 2,
      runId: "run-1",
      runUrl: "https://aicr.example/dashboard/runs/run-1"
    })
  })

  it("that expired name the limit", () => {
    const expired = { ...ended, outcome: "expired" } as const
    expect(endedFacts(stored({ outcome: "expired" }), expired, 3, {})).toMatchObject({
      _tag: "queue_expired",
      hours: 3
    })
  })

  it("of commands, and those that were settled otherwise, are none", () => {
    const work = { change: change(), configHash: "c", priority: 1, dueAt: 1, command: "help" } as const
    expect(endedFacts(stored({ work }), ended, 72, {})).toBeUndefined()
    expect(endedFacts(stored({ outcome: "executed" }), ended, 72, {})).toBeUndefined()
  })
})

it("a refused configuration is named by its digest, and its errors are only counted", () => {
  const document = { file: "/etc/aicr.yaml", reason: "invalid", errors: 3, line: 7, since: 1, digest: "d1" } as const
  const revision = { head: { number: 4, hash: "h4" }, errors: 1 }
  expect(refusedFacts({ refused: () => document, refusedRevision: () => revision }, "node-1")).toEqual([
    {
      _tag: "config_refused",
      source: "file",
      name: "/etc/aicr.yaml",
      digest: "d1",
      errors: 3,
      line: 7,
      node: "node-1"
    },
    { _tag: "config_refused", source: "revision", name: "4", digest: "4:h4", errors: 1, node: "node-1" }
  ])
  expect(refusedFacts({ refused: () => undefined, refusedRevision: () => undefined }, "node-1")).toEqual([])
})
