/** Lines of a diff around findings: only those files and lines, and never more than fits. */
import { describe, expect, it } from "vitest"
import { diffAround } from "../../src/review/DiffAround.ts"

const hunk = (start: number, count: number): string =>
  [
    `@@ -${start},${count} +${start},${count} @@`,
    ...Array.from({ length: count }, (_, at) => ` line ${start + at}`)
  ].join("\n")
const file = (path: string, ...hunks: ReadonlyArray<string>): string =>
  [`diff --git a/${path} b/${path}`, `--- a/${path}`, `+++ b/${path}`, ...hunks].join("\n")

describe("the lines around a finding", () => {
  const diff = [file("a.ts", hunk(1, 60), hunk(200, 10)), file("b.ts", hunk(1, 5))].join("\n")

  it("are those of its file and position", () => {
    const text = diffAround(diff, [{ path: "a.ts", side: "new", line: 30 }], 10_000)
    const numbers = text
      .split("\n")
      .slice(1)
      .map((row) => Number(row.split(" ")[0]))
    expect(text.split("\n")[0]).toBe("file a.ts")
    expect([numbers[0], numbers.at(-1), numbers.length]).toEqual([18, 42, 25])
  })

  it("count removed lines on the old side and added ones on the new side", () => {
    const changed = file("c.ts", ["@@ -10,3 +10,3 @@", " same", "-gone", "+come", " end"].join("\n"))
    const rows = (side: "old" | "new") => diffAround(changed, [{ path: "c.ts", side, line: 11 }], 1000).split("\n")
    expect(rows("new")).toEqual(["file c.ts", "10  same", "11 -gone", "11 +come", "12  end"])
    expect(rows("old")).toEqual(rows("new"))
  })

  it("are none for another file, and at most as many characters as requested", () => {
    expect(diffAround(diff, [{ path: "c.ts", side: "new", line: 3 }], 1000)).toBe("")
    expect(diffAround(diff, [{ path: "a.ts", side: "new", line: 30 }], 50).length).toBe(50)
    expect(diffAround("", [{ path: "a.ts", side: "new", line: 30 }], 50)).toBe("")
  })
})
