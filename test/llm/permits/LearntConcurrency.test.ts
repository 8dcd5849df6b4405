/** The number of concurrent calls of a provider is learnt from responses and refusals. */
import { expect, it } from "vitest"
import { LearntConcurrency } from "../../../src/llm/permits/LearntConcurrency.ts"

/** The limit after these results: `a` is a response and `t` a refusal of a call that was granted just before, with all permits held. */
const limitAfter = (results: string): number => {
  const learnt = new LearntConcurrency()
  for (const result of results) {
    if (result === "a") learnt.answered(learnt.limit)
    else learnt.throttled(learnt.limit, learnt.generation)
  }
  return learnt.limit
}

it.each([
  { name: "at first", results: "", limit: 8 },
  { name: "twice as many after a round of responses without a refusal", results: "a".repeat(8), limit: 16 },
  {
    name: "one more after a round of responses to fewer calls than were refused",
    results: `t${"a".repeat(5)}`,
    limit: 5
  },
  { name: "half after a refusal", results: "t", limit: 4 },
  { name: "never below one", results: "tttttt", limit: 1 },
  { name: "fast growth below the number of the last refusal", results: `tt${"a".repeat(2)}`, limit: 3 },
  { name: "slow growth at the number of the last refusal", results: `ttt${"a".repeat(7)}`, limit: 1 },
  { name: "growth past the number of the last refusal in the end", results: `ttt${"a".repeat(9)}`, limit: 2 },
  { name: "an upper bound", results: "a".repeat(10_000), limit: 64 }
])("$name: $limit", ({ results, limit }) => {
  expect(limitAfter(results)).toBe(limit)
})

it("calls of one burst that are refused together reduce the limit once", () => {
  const learnt = new LearntConcurrency()
  const { generation } = learnt
  for (let call = 8; call > 4; call--) learnt.throttled(call, generation)
  expect(learnt.limit).toBe(4)
})

it("a limit that is not used does not grow", () => {
  const learnt = new LearntConcurrency()
  for (let call = 0; call < 100; call++) learnt.answered(2)
  expect(learnt.limit).toBe(8)
})
