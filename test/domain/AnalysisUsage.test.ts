import { assert, it } from "@effect/vitest"
import { addUsage, noUsage } from "../../src/domain/Analysis.ts"
import type { Usage } from "../../src/domain/Analysis.ts"
import { Usd } from "../../src/domain/Money.ts"

const call = (model: string, costUsd?: number): Usage => {
  const amounts = { requests: 1, inputTokens: 10, outputTokens: 5, cachedTokens: 2 }
  const priced = costUsd === undefined ? amounts : { ...amounts, costUsd: Usd.make(costUsd) }
  return { ...priced, byModel: { [model]: { ...priced, reasoningTokens: 3 } } }
}

it("the sum of usage has the sum of each model, whose cost is unknown only for the model without a price", () => {
  const sum = [call("a/one", 0.5), call("b/two"), call("a/one", 0.25)].reduce(addUsage, noUsage)
  const two = { requests: 2, inputTokens: 20, outputTokens: 10, cachedTokens: 4, reasoningTokens: 6 }
  const one = { requests: 1, inputTokens: 10, outputTokens: 5, cachedTokens: 2, reasoningTokens: 3 }
  assert.deepStrictEqual(sum, {
    requests: 3,
    inputTokens: 30,
    outputTokens: 15,
    cachedTokens: 6,
    byModel: { "a/one": { ...two, costUsd: Usd.make(0.75) }, "b/two": one }
  })
})

it("usage without parts stays without parts", () => {
  assert.notProperty(addUsage(noUsage, noUsage), "byModel")
})
