/** The line about the end of a run has what an operator needs first: outcome, reason, duration, findings, cost, and what was not read. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { TestClock } from "effect/testing"
import type { Reason } from "../../../src/domain/Reason.ts"
import { logEnded } from "../../../actors/review/RunLog.ts"
import type { RunStatus } from "../../../src/domain/Run.ts"
import type { Run } from "../../../src/store/Runs.ts"

const usage = { requests: 3, inputTokens: 900, outputTokens: 80, cachedTokens: 500, costUsd: 0.0125 }

const findings = ["high", "low", "high"].map((severity) => ({ problem: { severity } }))

const skipped = [
  { path: "src/a.ts", reason: "budget", unread: true, read: 10, changed: 40 },
  { path: "src/b.ts", reason: "max_files", unread: true },
  { path: "dist/c.js", reason: "generated" }
]

const analysis = {
  findings,
  usage,
  coverage: { reviewed: [], skipped, lines: 30, changed: 90, unnamed: { reviewed: 0, skipped: {}, unread: 5 } }
}

/** Returns level and fields of the line about the end of a run that was created at 1 s and started at 2 s, at 9.5 s. */
const lineOf = (run: object, status: RunStatus, reason?: Reason) => {
  const lines: Array<readonly [level: string, message: unknown]> = []
  const given = { id: "r1", createdAt: 1000, startedAt: 2000, analysis: undefined, ...run } as unknown as Run
  return Effect.gen(function* () {
    yield* TestClock.setTime(9500)
    yield* logEnded(given, status, reason)
    assert.lengthOf(lines, 1)
    return lines[0]
  }).pipe(Effect.provide(Logger.layer([Logger.make(({ logLevel, message }) => lines.push([logLevel, message]))])))
}

describe("the line about the end of a run", () => {
  it.effect("counts findings by severity, what was paid, and what a partial review did not read", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* lineOf({ analysis: { ...analysis, partial: true } }, "succeeded"), [
        "Info",
        [
          "run ended",
          {
            run_id: "r1",
            status: "succeeded",
            seconds: 7.5,
            findings: { high: 2, low: 1 },
            usage: { requests: 3, input_tokens: 900, output_tokens: 80, cached_tokens: 500, cost_usd: 0.0125 },
            partial: true,
            read_lines: 30,
            changed_lines: 90,
            unread_files: 7
          }
        ]
      ])
    })
  )

  it.effect("counts leaked credentials that are not dismissed", () =>
    Effect.gen(function* () {
      const leaks = ["a", "b"].map((fingerprint) => ({ ...findings[0], fingerprint, fact: "credential" }))
      const line = yield* lineOf({ analysis: { ...analysis, findings: leaks, dismissed: ["b"] } }, "succeeded")
      assert.include(JSON.stringify(line), '"credentials":1')
    })
  )

  it.effect("has no parts that were not read after a complete review, and the lines read where none were counted", () =>
    Effect.gen(function* () {
      const complete = yield* lineOf({ analysis }, "succeeded")
      assert.deepStrictEqual(Object.keys(Object(Object(complete)[1][1])), [
        "run_id",
        "status",
        "seconds",
        "findings",
        "usage"
      ])
      const { changed: _, ...uncounted } = analysis.coverage
      const earlier = yield* lineOf({ analysis: { ...analysis, coverage: uncounted, partial: true } }, "succeeded")
      assert.include(JSON.stringify(earlier), '"read_lines":30,"changed_lines":30')
    })
  )

  it.effect.each([
    ["failed", "Error"],
    ["timeout", "Error"],
    ["cancelled", "Info"],
    ["skipped", "Info"]
  ] as const)(
    "%s has the level %s and the reason, and counts from its creation if it never started",
    ([status, level]) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* lineOf({ startedAt: undefined }, status, { _tag: "LeaseLost" }), [
          level,
          ["run ended", { run_id: "r1", status, reason: { _tag: "LeaseLost" }, seconds: 8.5 }]
        ])
      })
  )
})
