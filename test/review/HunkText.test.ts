/** Functions over the bytes of a change return the same as those over its lines. */
import { createHash } from "node:crypto"
import * as fc from "fast-check"
import { afterAll, describe, expect, it } from "vitest"
import type { FileDiff } from "../../src/review/FileDiff.ts"
import { hunkRisk } from "../../src/review/Compress.ts"
import { countChanged, toBytes, countLines, firstLines } from "../../src/review/HunkText.ts"
import { makeDiffParser, parseDiff } from "../../src/review/ParseDiff.ts"
import { patchId } from "../../src/review/PatchId.ts"
import { closeDiffs, realDiff } from "./RealDiffs.ts"
import { treeChange } from "./Trees.ts"

afterAll(closeDiffs)

/** The same lines without the bytes that they were read from. */
const copied = (file: FileDiff): FileDiff => ({ ...file, hunks: file.hunks.map((hunk) => ({ ...hunk })) })

const idOf = (file: FileDiff): string => patchId(file)

describe("the bytes of hunks", () => {
  it("stand for their lines", async () => {
    await fc.assert(
      fc.asyncProperty(treeChange, fc.nat({ max: 12 }), fc.nat({ max: 400 }), async (change, count, cut) => {
        const text = Buffer.from(await realDiff(change))
        const parser = makeDiffParser()
        parser.push(text.subarray(0, cut))
        parser.push(text.subarray(cut))
        for (const file of parser.end()) {
          for (const hunk of file.hunks) {
            // Called before any lines are decoded.
            const first = firstLines(hunk, count)
            const bytes = Buffer.concat(toBytes(hunk)).toString()
            const changed = countChanged(hunk)
            expect(countLines(hunk)).toBe(hunk.lines.length)
            expect(changed).toBe(hunk.lines.filter((line) => line[0] !== " ").length)
            expect(first).toEqual(hunk.lines.slice(0, count))
            expect(bytes).toBe(hunk.lines.map((line) => `${line}\n`).join(""))
          }
          expect(idOf(file)).toBe(idOf(copied(file)))
          for (const hunk of file.hunks) expect(hunkRisk(0, hunk)).toBe(hunkRisk(0, { ...hunk }))
        }
      }),
      { numRuns: 60 }
    )
  })

  it("are not those of a copy with other lines", () => {
    const [file] = parseDiff("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n a\n+b\n")
    const hunk = file?.hunks[0]
    if (file === undefined || hunk === undefined) throw new Error("no hunk")
    const other = { ...hunk, lines: [" a", "+c"] }
    expect(Buffer.concat(toBytes(other)).toString()).toBe(" a\n+c\n")
    expect(idOf({ ...file, hunks: [other] })).not.toBe(idOf(file))
  })

  it("give empty lines without their space as lines with it", () => {
    const [file] = parseDiff("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n")
    expect(file?.hunks[0]?.lines).toEqual([" a", " ", "-b", "+c"])
    expect(file && idOf(file)).toBe(file && idOf(copied(file)))
  })

  it("are hashed as what they are", () => {
    const [file] = parseDiff("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -5 +5 @@\n-a\n+b\n@@ -9 +9 @@ f()\n-c\n+d\n")
    const names = JSON.stringify(["x", undefined, "modified", undefined, undefined])
    const expected = createHash("sha256").update(`${names}\n@@\n-a\n+b\n\n@@\n-c\n+d\n`).digest("hex")
    expect(file && idOf(file)).toBe(expected.slice(0, 32))
  })
})
