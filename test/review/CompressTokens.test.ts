/** A change with too many lines for its passes is recognised without decoding them. */
import { describe, expect, it } from "vitest"
import { compress, tokensWithin } from "../../src/review/Compress.ts"
import { parseDiff } from "../../src/review/ParseDiff.ts"
import type { FileDiff } from "../../src/review/FileDiff.ts"

const added = (lines: ReadonlyArray<string>): ReadonlyArray<FileDiff> =>
  parseDiff(
    `diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1,${lines.length} @@\n${lines.map((line) => `+${line}\n`).join("")}`
  )

/** The same files, with the number of hunks whose lines are read. */
const watched = (files: ReadonlyArray<FileDiff>) => {
  const reads = { count: 0 }
  for (const { hunks } of files) {
    for (const hunk of hunks) {
      const get = Object.getOwnPropertyDescriptor(hunk, "lines")?.get
      Object.defineProperty(hunk, "lines", { get: () => (reads.count++, get?.call(hunk)) })
    }
  }
  return { files, reads }
}

describe("the tokens of a change", () => {
  it.each([
    ["empty lines", Array.from({ length: 50 }, () => "")],
    ["lines of code", Array.from({ length: 50 }, (_, at) => `export const value${at} = compute(${at}, "text")`)]
  ])("of %s are the same whatever the limit, as long as they are within it", (_, lines) => {
    const tokens = tokensWithin(added(lines), Number.POSITIVE_INFINITY) ?? 0
    expect(tokens).toBeGreaterThan(lines.length)
    expect(tokensWithin(added(lines), tokens)).toBe(tokens)
    expect(tokensWithin(added(lines), tokens - 1)).toBeUndefined()
  })

  it("are estimated with a small reserve where hunks are selected", () => {
    const lines = Array.from({ length: 200 }, (_, at) => `  if (prices[${at}] > limit) return null`)
    const files = [...added(lines), ...added(lines)]
    const tokens = tokensWithin(files, Number.POSITIVE_INFINITY) ?? 0
    expect(compress(files, 30, tokens).cut).toHaveLength(1)
    expect(compress(files, 30, Math.round(tokens * 1.2))).toEqual({ kept: files, cut: [] })
  })

  it("are not counted where there are too many lines", () => {
    const { files, reads } = watched(added(Array.from({ length: 1000 }, () => "export const a = 1")))
    expect(tokensWithin(files, 2000)).toBeUndefined()
    expect(reads.count).toBe(0)
    expect(tokensWithin(files, 20_000)).toBeGreaterThan(2000)
    expect(reads.count).toBeGreaterThan(0)
  })
})
