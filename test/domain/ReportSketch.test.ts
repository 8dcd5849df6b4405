/** Decides which problems correct a report that was refused. */
import { describe, expect, it } from "vitest"
import { countLost } from "../../src/domain/ReportSketch.ts"
import type { RefusedReport } from "../../src/domain/ReportSketch.ts"

const recorded = (round: number, more: Record<string, unknown> = {}) => ({
  round,
  problem: {
    file: "a.ts",
    line: 3,
    severity: "high" as const,
    category: "bug",
    message: "The length is not checked.",
    quote: "list[0]",
    ...more
  }
})
const message = "The length is not checked."

describe("a refused report", () => {
  it.each<readonly [string, RefusedReport, ReturnType<typeof recorded>, number]>([
    ["has the same text", { round: 1, message }, recorded(2), 0],
    ["has the same text in the same response", { round: 1, message }, recorded(1), 0],
    ["is cut", { round: 1, file: "a.ts", message: "The length is not" }, recorded(2), 0],
    ["has the same text in another file", { round: 1, file: "b.ts", message }, recorded(2), 1],
    ["has other words for the same line", { round: 1, file: "a.ts", line: 3, message: "Wrong." }, recorded(2), 0],
    ["has other words for the same code", { round: 1, quote: "list[0]", message: "Wrong." }, recorded(2), 0],
    ["is another one about the same code", { round: 1, quote: "list[0]", message: "Wrong." }, recorded(1), 1],
    ["is about other code", { round: 1, file: "a.ts", quote: "list[9]", message: "Wrong." }, recorded(2), 1],
    ["has little text", { round: 1, message: "The" }, recorded(2), 1],
    ["names its file alone", { round: 1, file: "a.ts" }, recorded(2), 0],
    ["says nothing", { round: 1 }, recorded(2), 0],
    ["says nothing, in the last response", { round: 2 }, recorded(2), 1]
  ])("that %s", (_, refused, problem, lost) => {
    expect(countLost([refused], [problem])).toBe(lost)
  })

  it("is corrected by a problem of its own, unless it was repeated", () => {
    const same = { round: 1, message }
    expect(countLost([same, { ...same, round: 2 }], [recorded(3)])).toBe(0)
    const other = { round: 1, file: "a.ts", line: 3, message: "Wrong." }
    expect(countLost([same, other], [recorded(3)])).toBe(1)
    expect(countLost([same, other], [recorded(3), recorded(3, { message: "It is wrong to index." })])).toBe(0)
  })
})
