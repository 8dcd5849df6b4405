/** Files from a diff with whole files as context: of a real repository for any content, and of diffs that are not what they should be. */
import * as fc from "fast-check"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { parseWholeDiff } from "../../../src/vcs/subversion/SvnSides.ts"
import { SvnRepository } from "../../harness/Subversion.ts"

const toTexts = (diff: string) =>
  [...parseWholeDiff(Buffer.from(diff))].map(([path, { from, head }]) => [path, from.toString(), head.toString()])

const header = (path: string) =>
  `Index: ${path}\n${"=".repeat(67)}\n--- ${path}\t(revision 1)\n+++ ${path}\t(revision 2)\n`

describe("a real repository", () => {
  let repository: SvnRepository
  beforeAll(() => {
    repository = new SvnRepository(["trunk"])
  })
  afterAll(() => repository[Symbol.dispose]())

  it("any content of both sides is read byte by byte", () => {
    const line = fc.constantFrom(
      "a",
      "-b",
      "+c",
      "",
      " ",
      "@@ -1 +1 @@",
      "Index: x",
      "\\ No newline at end of file",
      "Some café au lait, and milk"
    )
    const end = fc.constantFrom("\n", "\r\n", "\r", "\n\n")
    const content = fc
      .tuple(fc.array(fc.tuple(line, end), { maxLength: 12 }), line)
      .map(([lines, last]) => `${lines.map(([text, mark]) => text + mark).join("")}${last}`)
    const rounds = fc.sample(fc.array(fc.tuple(content, content), { minLength: 60, maxLength: 60 }), {
      numRuns: 1,
      seed: 7
    })
    const pairs = rounds.flat()
    const edit = (side: 0 | 1) => ({
      files: Object.fromEntries(pairs.map((pair, index) => [`trunk/file ${index} é@.c`, pair[side]]))
    })
    const before = repository.commit("Before", edit(0))
    const after = repository.commit("After", edit(1))
    const diff = repository.svn("diff", "-x", "-U 1000000", "-r", `${before}:${after}`, `${repository.url}/trunk`)
    const found = parseWholeDiff(Buffer.from(diff))
    pairs.forEach(([old, now], index) => {
      if (old === now) return
      const sides = found.get(`file ${index} é@.c`)
      expect([sides?.from.toString(), sides?.head.toString()]).toEqual([old, now])
    })
    expect(found.size).toBe(pairs.filter(([old, now]) => old !== now).length)
  })
})

describe("a diff", () => {
  it("of added and deleted files has one side", () => {
    const diff = `${header("a")}@@ -0,0 +1,2 @@\n+1\n+2\n${header("b")}@@ -1 +0,0 @@\n-1\n`
    expect(toTexts(diff)).toEqual([
      ["a", "", "1\n2\n"],
      ["b", "1\n", ""]
    ])
  })
  it.each([
    ["with several hunks has no whole file", `${header("a")}@@ -1 +1 @@\n-1\n+2\n@@ -9 +9 @@\n-1\n+2\n`],
    ["that begins within the file has no whole file", `${header("a")}@@ -2 +2 @@\n-1\n+2\n`],
    ["that ends early has no file", `${header("a")}@@ -1,2 +1,2 @@\n-1\n+2\n`],
    ["with another prefix has no file", `${header("a")}@@ -1 +1 @@\nx1\n+2\n`],
    ["with more lines of a side than it counts has no file", `${header("a")}@@ -1,2 +1 @@\n+1\n+2\n-3\n-4\n`],
    ["of a binary file has no file", `${header("a")}Cannot display: file marked as a binary type.\n`]
  ])("%s", (_, diff) => {
    expect(toTexts(diff)).toEqual([])
  })
})
