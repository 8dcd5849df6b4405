import { assert, describe, it } from "@effect/vitest"
import { Usd } from "../../src/domain/Money.ts"
import { countOutcome, countRun } from "../../src/domain/RunCounts.ts"
import type { EndedRun, RunCounts } from "../../src/domain/RunCounts.ts"
import { analysis } from "../store/Fixtures.ts"

const run = (over: Partial<EndedRun> = {}): EndedRun => ({
  isReply: false,
  status: "succeeded",
  partial: false,
  startedAt: 1000,
  finishedAt: 3000,
  analysis,
  issuesCreated: 0,
  ledgerNanos: undefined,
  mayHaveCalled: true,
  ...over
})

/** Counts other than zero. */
const nonzero = (counts: RunCounts) => Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0))

describe("cost", () => {
  const priced = { ...analysis.usage, costUsd: Usd.make(0.02) }
  const free = { ...analysis.usage, costUsd: Usd.make(0) }
  const unused = { ...analysis.usage, requests: 0, costUsd: Usd.make(0) }
  it.each<[string, Partial<EndedRun>, RunCounts]>([
    ["known", { analysis: { ...analysis, usage: priced } }, { runs_priced: 1, cost_nanos: 20_000_000 }],
    ["known to be nothing", { analysis: { ...analysis, usage: free } }, { runs_priced: 1 }],
    ["unknown without a price", {}, { runs_unpriced: 1 }],
    ["unknown without a price, whatever the ledger has", { ledgerNanos: 7 }, { runs_unpriced: 1 }],
    ["none without a call", { analysis: { ...analysis, usage: unused } }, {}],
    [
      "that of the ledger without an analysis",
      { analysis: undefined, ledgerNanos: 7 },
      { runs_priced: 1, cost_nanos: 7 }
    ],
    ["unknown without an analysis and a ledger", { analysis: undefined }, { runs_unpriced: 1 }],
    ["none if no model can have been called", { analysis: undefined, mayHaveCalled: false }, {}]
  ])("is %s", (_, over, expected) => {
    const { cost_nanos = 0, runs_priced = 0, runs_unpriced = 0 } = countRun(run(over)).counts
    assert.deepStrictEqual(nonzero({ cost_nanos, runs_priced, runs_unpriced }), expected)
  })
})

it("a reply counts with what it used, and not as a run", () => {
  const usage = { ...analysis.usage, costUsd: Usd.make(0.02) }
  const { byModel, counts, slots } = countRun(run({ isReply: true, analysis: { ...analysis, findings: [], usage } }))
  assert.deepInclude(counts, { requests: usage.requests, input_tokens: usage.inputTokens, cost_nanos: 20_000_000 })
  for (const of of [counts, ...byModel.values()])
    assert.isEmpty(Object.keys(of).filter((name) => name.startsWith("runs_") || name.startsWith("duration_")))
  assert.isEmpty(slots)
})

it.each([
  ["succeeded", 2000],
  ["failed", 2000],
  ["timeout", 2000],
  ["cancelled", undefined],
  ["skipped", undefined]
] as const)("the duration of a run that is %s counts as %s", (status, expected) => {
  const { counts, slots } = countRun(run({ status }))
  assert.strictEqual(counts.duration_ms, expected)
  assert.strictEqual(counts.duration_runs, expected === undefined ? undefined : 1)
  assert.strictEqual(slots.run !== undefined, expected !== undefined)
  assert.isEmpty(countRun(run({ status, startedAt: undefined })).slots)
})

it("usage counts for the model that it is of, the content of the review for the first one", () => {
  const part = { requests: 1, inputTokens: 10, outputTokens: 4, cachedTokens: 2, reasoningTokens: 3 }
  const usage = {
    requests: 3,
    inputTokens: 30,
    outputTokens: 12,
    cachedTokens: 6,
    byModel: {
      "a/one": {
        ...part,
        costUsd: Usd.make(0.001)
      },
      "b/two": {
        ...part,
        requests: 2
      }
    }
  }
  const { byModel, counts } = countRun(
    run({ issuesCreated: 2, analysis: { ...analysis, models: ["a/one", "b/two"], usage } })
  )
  const end = { runs_succeeded: 1, duration_ms: 2000, duration_runs: 1 }
  const content = { problems_high: 1, issues_created: 2, files: 1, lines: 12 }
  const tokens = { input_tokens: 10, output_tokens: 4, cached_tokens: 2, reasoning_tokens: 3 }
  assert.deepStrictEqual(
    new Map([...byModel].map(([model, sum]) => [model, nonzero(sum)])),
    new Map([
      ["a/one", { ...end, ...content, requests: 1, ...tokens, runs_priced: 1, cost_nanos: 1_000_000 }],
      ["b/two", { ...end, requests: 2, ...tokens, runs_unpriced: 1 }]
    ])
  )
  const all = { input_tokens: 30, output_tokens: 12, cached_tokens: 6, reasoning_tokens: 6 }
  assert.deepStrictEqual(nonzero(counts), { ...end, ...content, requests: 3, ...all, runs_unpriced: 1 })
})

const open = { outcome: "open", replied: false } as const
const fixed = { outcome: "fixed", replied: false } as const
const dismissed = { outcome: "dismissed", replied: true } as const
it.each([
  ["a new finding", undefined, open, { findings: 1 }],
  ["a fixed one", open, fixed, { findings_fixed: 1 }],
  ["one that returns", fixed, open, { findings_fixed: -1 }],
  [
    "a dismissed one with a reply",
    fixed,
    dismissed,
    { findings_fixed: -1, findings_dismissed: 1, findings_replied: 1 }
  ],
  ["a known one that was not counted", undefined, fixed, { findings: 1, findings_fixed: 1 }]
] as const)("%s changes the counts of outcomes", (_, before, after, expected) => {
  assert.deepStrictEqual(nonzero(countOutcome(before, after)), expected)
})
