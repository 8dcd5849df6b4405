import { assert, it } from "@effect/vitest"
import { Usd } from "../../src/domain/Money.ts"
import { toUsage } from "../../src/llm/Gateway.ts"

it("the usage of a response is that of its model, with reasoning tokens", () => {
  const tokens = { inputTokens: 10, outputTokens: 5, cachedTokens: 2 }
  const usage = { ...tokens, cacheWriteTokens: 1, reasoningTokens: 3, costUsd: Usd.make(0.5) }
  const response = { model: "demo/rules", text: "", calls: [], usage, native: undefined, fallbacks: [] }
  const counted = { requests: 1, ...tokens, costUsd: Usd.make(0.5) }
  assert.deepStrictEqual(toUsage(response), {
    ...counted,
    byModel: { "demo/rules": { ...counted, reasoningTokens: 3 } }
  })
})
