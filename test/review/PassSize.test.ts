import { describe, expect, it } from "vitest"
import { computeCapacity, passSize } from "../../src/review/PassSize.ts"

describe("the passes of a change", () => {
  it.each([
    // A small change is read in one pass.
    { tokens: 0, passes: 1, maxTokens: 16_000 },
    { tokens: 5_000, passes: 1, maxTokens: 16_000 },
    // A larger one is split to be reviewed sooner.
    { tokens: 5_001, passes: 2, maxTokens: 16_000 },
    { tokens: 12_000, passes: 3, maxTokens: 16_000 },
    { tokens: 15_001, passes: 4, maxTokens: 16_000 },
    { tokens: 40_000, passes: 4, maxTokens: 16_000 },
    { tokens: 45_000, passes: 5, maxTokens: 16_000 },
    { tokens: 100_000, passes: 8, maxTokens: 16_000 },
    // Above the number that is read at the same time they become larger first.
    { tokens: 160_000, passes: 8, maxTokens: 25_000 },
    { tokens: 160_001, passes: 11, maxTokens: 18_182 },
    { tokens: 320_000, passes: 20, maxTokens: 20_000 }
  ])("of $tokens tokens: $passes", ({ maxTokens, passes, tokens }) => {
    expect(passSize(tokens, 200_000, 100)).toEqual({ passes, maxTokens })
  })

  it.each([
    {
      name: "are more where a pass holds less",
      tokens: 30_000,
      room: 5_000,
      maxPasses: 20,
      passes: 7,
      maxTokens: 5_000
    },
    {
      name: "are limited by the configuration",
      tokens: 100_000,
      room: 200_000,
      maxPasses: 4,
      passes: 4,
      maxTokens: 31_250
    },
    {
      name: "hold what a model reads, at most",
      tokens: 900_000,
      room: 100_000,
      maxPasses: 4,
      passes: 4,
      maxTokens: 100_000
    },
    {
      name: "are one if only one is permitted",
      tokens: 90_000,
      room: 100_000,
      maxPasses: 1,
      passes: 1,
      maxTokens: 100_000
    }
  ])("$name", ({ maxPasses, maxTokens, passes, room, tokens }) => {
    expect(passSize(tokens, room, maxPasses)).toEqual({ passes, maxTokens })
  })
})

it("several passes hold a little less than their sum, because files are kept whole", () => {
  expect(computeCapacity(1_000, 1)).toBe(1_000)
  expect(computeCapacity(1_000, 4)).toBe(3_600)
})
