import { describe, expect, it } from "vitest"
import { firstReads, readAt } from "../../src/review/FirstReads.ts"
import { markLines, toReadLines } from "../../src/review/LineMarks.ts"
import { parseDiff } from "../../src/review/ParseDiff.ts"

const fileOf = (lines: ReadonlyArray<string>, start = 1) => {
  const [old, now] = ["+", "-"].map((mark) => lines.filter((line) => line[0] !== mark).length)
  const text = `diff --git a/a.ts b/a.ts\n--- a/a.ts\n+++ b/a.ts\n@@ -${start},${old} +${start},${now} @@\n${lines.join("\n")}\n`
  const [file] = parseDiff(text)
  if (file === undefined) throw new Error("no file")
  return file
}

const key = "k"
const stored = (lines: ReadonlyArray<string>, round: number) => {
  const marks = markLines(fileOf(lines), key)
  return toReadLines(
    "a.ts",
    marks,
    marks.map(() => round)
  )
}

const context = (name: string, count = 3) => Array.from({ length: count }, (_, at) => ` ${name}${at} unchanged`)
const first = [...context("a"), "+one added", "+two added", "+three added", "+four added", ...context("b")]

describe("rounds that read a line", () => {
  it("is none without an earlier one", () => {
    const file = fileOf(first)
    expect(firstReads(file, markLines(file, key), undefined)).toEqual(first.map(() => 0))
  })

  it.each([
    ["the same patch elsewhere in the file", first, "1111111111"],
    ["a line that is added", first.toSpliced(5, 0, "+new"), "11111011111"],
    ["a line that is replaced", first.with(4, "+other"), "1111011111"],
    ["lines around one that is removed", first.toSpliced(4, 1), "111001111"],
    ["an added line that was context", first.with(1, "+a1 unchanged"), "1011111111"],
    ["other white space", first.with(4, "+two  added"), "1111011111"],
    ["a line that moved down", first.toSpliced(3, 1).toSpliced(6, 0, "+one added"), "1110000111"]
  ])("%s", (_, lines, rounds) => {
    const file = fileOf(lines, 200)
    expect(firstReads(file, markLines(file, key), stored(first, 1)).join("")).toBe(rounds)
  })

  it("recognises no line by the digest of another key", () => {
    const file = fileOf(first)
    expect(firstReads(file, markLines(file, "another"), stored(first, 1))).toEqual(first.map(() => 0))
  })

  it("counts a place as read when all of its lines were, from the last of them on", () => {
    const file = fileOf(first)
    const reads = [1, 1, 1, 1, 2, 3, 0, 1, 1, 1]
    const place = (line: number, start?: number, side: "new" | "old" = "new") =>
      readAt(file, reads, { path: "a.ts", side, line, ...(start === undefined ? {} : { start }) })
    expect([place(4), place(5, 4), place(6, 4), place(7, 6), place(7), place(99)]).toEqual([1, 2, 3, 0, 0, 0])
    expect(place(4, 4, "old")).toBe(1)
    expect(readAt(file, reads, undefined)).toBe(0)
    expect(readAt(file, reads.with(6, 2), undefined)).toBe(3)
  })
})
