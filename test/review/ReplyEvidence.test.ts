import { describe, expect, it } from "vitest"
import type { Finding } from "../../src/domain/Problem.ts"
import { findOpenLine, findQuotedLine, linesNear } from "../../src/review/ReplyEvidence.ts"

const file = {
  path: "src/cart.ts",
  text: ["export const total = (items) => {", "  if (items.length === 0) return 0", "  return sum(items)", "}"].join(
    "\n"
  )
}
const finding = (quote: string | undefined, side: "new" | "old" = "new"): Finding => ({
  fingerprint: "f",
  problem: {
    file: "src/cart.ts",
    severity: "high",
    category: "bug",
    message: "empty carts fail",
    ...(quote === undefined ? {} : { quote })
  },
  anchor: { path: "src/cart.ts", side, line: 3 }
})

describe("findQuotedLine", () => {
  it.each([
    ["if (items.length === 0) return 0", 2],
    ["  if (items.length===0)   return 0\n  return sum(items)", 2],
    ["```\nreturn sum(items)\n```", 3],
    ["if (items.length === 0) return 1", undefined],
    ["}", undefined],
    ["", undefined]
  ] as const)("%j is at %s", (quote, line) => {
    expect(findQuotedLine(file, quote)).toBe(line)
  })
})

describe("findOpenLine", () => {
  it.each([
    ["code that is there", finding("return sum(items)"), 3],
    ["code that is gone", finding("return items.reduce(add)"), undefined],
    ["code that was removed", finding("return sum(items)", "old"), undefined],
    ["no code", finding(undefined), undefined]
  ] as const)("finds %s", (_, given, line) => {
    expect(findOpenLine(file, given)).toBe(line)
  })
})

it("shows numbered lines around a line, and no more than the limit", () => {
  expect(linesNear(file, 3, 1000)).toContain("3:   return sum(items)")
  expect(linesNear(file, 3, 20)).toHaveLength(20)
  expect(linesNear({ path: "x", text: "a\n".repeat(500) }, 400, 100_000).split("\n")).toHaveLength(82)
})
