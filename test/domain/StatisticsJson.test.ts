import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { findSlot } from "../../src/domain/DurationHistogram.ts"
import type { RunCounts } from "../../src/domain/RunCounts.ts"
import { TotalsJson, totalsJson } from "../../src/domain/StatisticsJson.ts"

const totals = (counts: RunCounts) => totalsJson({ counts, durations: new Map(), firstComments: new Map() })

describe("cost", () => {
  it.each([
    ["of known runs is their sum", { runs_priced: 2, cost_nanos: 1_500_000_000 }, 1.5, null],
    [
      "per accepted finding is a share of it",
      { runs_priced: 2, cost_nanos: 1_500_000_000, findings_fixed: 3 },
      1.5,
      0.5
    ],
    [
      "is that of the known runs, and none per finding, if one is unknown",
      { runs_priced: 1, runs_unpriced: 1, cost_nanos: 1e9, findings_fixed: 1 },
      1,
      null
    ],
    ["is unknown if it is known of none", { runs_unpriced: 1, findings_fixed: 1 }, null, null],
    ["is nothing without calls", { runs_skipped: 1 }, 0, null]
  ] as const)("%s", (_, counts, cost, perFinding) => {
    const { cost_per_accepted_finding_usd, cost_usd } = totals(counts)
    assert.deepStrictEqual([cost_usd, cost_per_accepted_finding_usd], [cost, perFinding])
  })
})

it("rates are of published findings, and null without any", () => {
  const { findings } = totals({ findings: 8, findings_fixed: 4, findings_dismissed: 1, findings_replied: 2 })
  assert.deepInclude(findings, { open: 3, accepted_rate: 0.5, dismissed_rate: 0.125, replied_rate: 0.25 })
  assert.deepInclude(totals({}).findings, { accepted_rate: null, dismissed_rate: null, replied_rate: null })
})

it("durations are null without runs", () => {
  assert.deepStrictEqual(totals({}).duration, { runs: 0, average_ms: null, p95_ms: null })
  assert.deepStrictEqual(totals({}).first_comment, { reviews: 0, p50_ms: null, p90_ms: null })
  const counts = { duration_runs: 2, duration_ms: 3001 }
  const durations = new Map([[findSlot(2000), 2]])
  const firstComments = new Map([
    [findSlot(1000), 2],
    [findSlot(60_000), 1]
  ])
  const { duration, first_comment: first } = totalsJson({ counts, durations, firstComments })
  const { average_ms, p95_ms } = duration
  assert.strictEqual(first.reviews, 3)
  assert.closeTo(first.p50_ms ?? 0, 1000, 45)
  assert.closeTo(first.p90_ms ?? 0, 60_000, 2700)
  assert.strictEqual(average_ms, 1501)
  assert.closeTo(p95_ms ?? 0, 2000, 90)
})

it("the total of runs is that of all states", () => {
  const counts = {
    runs_succeeded: 1,
    runs_failed: 2,
    runs_timeout: 3,
    runs_cancelled: 4,
    runs_skipped: 5,
    runs_partial: 1
  }
  assert.deepInclude(totals(counts).runs, { total: 15, partial: 1 })
})

it("docs/statistics.md defines every field", () => {
  const document = readFileSync(join(import.meta.dirname, "../../docs/statistics.md"), "utf8")
  for (const [name, value] of Object.entries(totals({}))) {
    const inner = typeof value === "object" && value !== null ? Object.keys(value) : []
    const names = inner.length === 0 ? [name] : inner.map((field) => `${name}.${field}`)
    for (const field of names) {
      const short = field.slice(field.indexOf(".") < 0 ? 0 : field.indexOf("."))
      assert.isTrue(document.includes(`\`${field}\``) || document.includes(`, \`${short}\``), field)
    }
  }
  assert.sameMembers(Object.keys(TotalsJson.fields), Object.keys(totals({})))
})
