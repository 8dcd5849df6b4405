import { expect, it } from "vitest"
import { RecentCalls } from "../../../src/llm/permits/RecentCalls.ts"

const minute = 60_000

it("calls of the last hour are counted by their failures, and tokens of the last five minutes averaged", () => {
  const calls = new RecentCalls(0)
  calls.add(0, 1000, undefined)
  calls.add(58 * minute, 500, undefined)
  calls.add(58 * minute, 0, "rate_limited")
  calls.add(59 * minute, 0, "rate_limited")
  calls.add(59 * minute, 250, "timeout")
  expect(calls.summarize(59 * minute)).toEqual({
    countedSince: 0,
    responses: 2,
    errors: { rate_limited: 2, timeout: 1 },
    tokensPerMinute: 150
  })
  // The first minute is over an hour ago.
  expect(calls.summarize(60 * minute)).toMatchObject({ responses: 1, errors: { rate_limited: 2, timeout: 1 } })
  expect(calls.summarize(64 * minute)).toMatchObject({ responses: 1, tokensPerMinute: 0 })
  expect(calls.summarize(200 * minute)).toMatchObject({ responses: 0, errors: {}, tokensPerMinute: 0 })
})
