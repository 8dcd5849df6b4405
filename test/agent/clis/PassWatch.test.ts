/** The watch ends passes of agent CLIs that do not end by themselves. */
import { expect, it } from "vitest"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { AgentError } from "../../../src/agent/Agent.ts"
import { newClock, watchPass } from "../../../src/agent/clis/PassWatch.ts"
import type { PassSight } from "../../../src/agent/clis/PassWatch.ts"
import { passTimes } from "../../../src/agent/clis/PassLimits.ts"
import { noUsage } from "../../../src/domain/Analysis.ts"

const sight = (
  now: number,
  proxy: Partial<PassSight["proxy"]> & { readonly requests?: number },
  more: Partial<PassSight> = {}
): PassSight => ({
  now,
  toolCalls: 0,
  isEnded: false,
  ...more,
  proxy: { models: [], notices: [], usage: { ...noUsage, requests: proxy.requests ?? 0 }, ...proxy }
})

/** Returns the time at which a series of sights, one per second, ends the pass, and the message. */
const endOf = (at: (second: number) => PassSight, seconds = 400): readonly [number, string | undefined] | undefined => {
  let clock = newClock(0)
  for (let second = 0; second <= seconds; second++) {
    const verdict = watchPass("codex", passTimes, clock, at(second))
    if (verdict.end !== undefined) return [second, verdict.end.error?.message]
    clock = verdict.clock
  }
  return undefined
}

const transient = new AgentError({ reason: "retryable", why: verbatimReason("no response") })
const permanent = new AgentError({ reason: "failed", why: verbatimReason("the key is wrong") })

it("ends a program that makes no model call within three minutes", () => {
  expect(endOf((second) => sight(second * 1000, {}))).toEqual([
    180,
    "codex made no model call within 180 s; run aicr agent check codex"
  ])
  expect(endOf((second) => sight(second * 1000, { requests: 1 }))).toBeUndefined()
})

it("ends a program whose model calls fail, soon where they always will", () => {
  expect(endOf((second) => sight(second * 1000, { requests: 1, failure: permanent }))).toEqual([10, permanent.message])
  expect(endOf((second) => sight(second * 1000, { requests: 1, failure: transient }))).toEqual([60, transient.message])
})

it("starts to count again once a call succeeds", () => {
  const sometimes = (second: number) =>
    second % 50 < 40
      ? sight(second * 1000, { requests: 1 + Math.floor(second / 50), failure: transient })
      : sight(second * 1000, { requests: 2 + Math.floor(second / 50) })
  expect(endOf(sometimes)).toBeUndefined()
})

it("ends a program that stays after the end of the review, or after its calls were stopped", () => {
  expect(endOf((second) => sight(second * 1000, { requests: 1 }, { isEnded: second >= 5 }))).toEqual([25, undefined])
  expect(endOf((second) => sight(second * 1000, { requests: 1, stopped: { _tag: "BudgetEndedReview" } }))).toEqual([
    20,
    undefined
  ])
})
