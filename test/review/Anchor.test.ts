import { afterAll, describe, expect, it } from "vitest"
import * as fc from "fast-check"
import type { ReportedProblem } from "../../src/domain/Problem.ts"
import { makeAnchorer } from "../harness/Anchorer.ts"
import { numberLines } from "../../src/review/FileDiff.ts"
import type { FileDiff } from "../../src/review/FileDiff.ts"
import { parseDiff } from "../../src/review/ParseDiff.ts"
import { closeDiffs, realDiff } from "./RealDiffs.ts"
import { treeChange } from "./Trees.ts"
import type { Tree } from "./Trees.ts"

afterAll(closeDiffs)

const report = (fields: Partial<ReportedProblem>): ReportedProblem => ({
  file: "a.ts",
  severity: "low",
  category: "bug",
  message: "m",
  ...fields
})

/** Runs of one to three neighbouring lines of one side that say something. */
const quotable = (file: FileDiff, side: "new" | "old") =>
  file.hunks
    .flatMap((hunk) => {
      const lines = numberLines(hunk).filter(({ kind }) => kind !== (side === "new" ? "-" : "+"))
      return lines.flatMap((_, at) => [1, 2, 3].map((length) => lines.slice(at, at + length)))
    })
    .filter((lines) => {
      const [first, last] = [lines[0]?.text ?? "", lines.at(-1)?.text ?? ""]
      const removed = lines.filter(({ kind }) => kind === "-").length
      return first.trim() !== "" && last.trim() !== "" && (side === "new" || removed === lines.length)
    })

const lineOf = (tree: Tree, path: string, line: number | undefined) => tree.get(path)?.lines[(line ?? 0) - 1]

const styles: ReadonlyArray<(text: string) => string> = [
  (text) => text,
  (text) => text.trim(),
  (text) => `    ${text.trim()}  `,
  (text) => text.replace(/ /g, "  ")
]

/** Ten times as many changes with AICR_TEST_SCALE=10. */
const scale = Number(process.env["AICR_TEST_SCALE"] ?? 1)

describe("anchoring", () => {
  it("puts a quoted line of any real change on exactly that line", async () => {
    let anchored = 0
    await fc.assert(
      fc.asyncProperty(
        treeChange,
        fc.infiniteStream(fc.nat()),
        fc.constantFrom("new" as const, "old" as const),
        async (change, random, side) => {
          const pick = () => random.next().value ?? 0
          const files = parseDiff(await realDiff(change))
          const anchor = makeAnchorer(files)
          for (const file of files) {
            const runs = quotable(file, side)
            for (let round = 0; round < 6 && runs.length > 0; round++) {
              const lines = runs[pick() % runs.length] ?? []
              const style = styles[pick() % styles.length] ?? String
              const numbers = lines.map(({ oldLine, newLine }) => (side === "new" ? newLine : oldLine))
              const place = anchor(
                report({
                  file: file.path,
                  quote: lines.map(({ text }) => style(text)).join("\n"),
                  line: numbers[0],
                  side
                })
              )
              expect(place?.anchor).toMatchObject({ path: file.path, side, line: numbers.at(-1) })
              expect(place?.anchor.start ?? place?.anchor.line).toBe(numbers[0])
              const tree = side === "new" ? change.after : change.before
              const name = side === "new" ? file.path : (file.oldPath ?? file.path)
              expect(lineOf(tree, name, place?.anchor.line)).toBe(lines.at(-1)?.text)
              anchored++
            }
          }
        }
      ),
      { numRuns: 50 * scale }
    )
    expect(anchored).toBeGreaterThan(160 * scale)
  })

  it("never anchors on a line that does not hold the quote, whatever line is claimed", async () => {
    await fc.assert(
      fc.asyncProperty(treeChange, fc.infiniteStream(fc.nat()), async (change, random) => {
        const pick = () => random.next().value ?? 0
        const files = parseDiff(await realDiff(change))
        const anchor = makeAnchorer(files)
        for (const file of files) {
          const runs = quotable(file, "new").filter(({ length }) => length === 1)
          const line = runs[pick() % Math.max(1, runs.length)]?.[0]
          if (line === undefined) continue
          const alone =
            runs.filter(([other]) => other?.text.replace(/\s/g, "") === line.text.replace(/\s/g, "")).length === 1
          const hasWord = /\w{3}/.test(line.text)
          const claimed = pick() % 3 === 0 ? undefined : pick() % 80
          const place = anchor(report({ file: file.path, quote: line.text, line: claimed }))
          expect(alone && hasWord ? place?.anchor.line : line.newLine).toBe(line.newLine)
          if (place === undefined) continue
          const found = lineOf(
            place.anchor.side === "new" ? change.after : change.before,
            place.anchor.side === "new" ? file.path : (file.oldPath ?? file.path),
            place.anchor.line
          )
          expect(found?.replace(/\s/g, "")).toContain(line.text.replace(/\s/g, ""))
        }
      }),
      { numRuns: 40 * scale }
    )
  })
})

const diff = parseDiff(`diff --git a/src/old.ts b/src/pay.ts
similarity index 80%
rename from src/old.ts
rename to src/pay.ts
--- a/src/old.ts
+++ b/src/pay.ts
@@ -10,6 +10,8 @@ function pay() {
   const a = 1
-  charge(a)
-  log(a)
+  charge(a, b)
+  if (b) {
+    charge(a, c)
+  }
   return a
 }
 
@@ -40,4 +42,5 @@ function refund() {
   const a = 1
   undo(a)
+  charge(a, b)
   return a
 }
diff --git a/lib/deep/util.ts b/lib/deep/util.ts
--- a/lib/deep/util.ts
+++ b/lib/deep/util.ts
@@ -1,1 +1,2 @@
 export const x = 1
+export const y = callMe(x, "text", 12)
`)

describe("anchoring by table", () => {
  const anchor = makeAnchorer(diff)
  it.each<readonly [string, Partial<ReportedProblem>, { line: number; start?: number; side?: string } | undefined]>([
    ["nearest to the claimed line", { quote: "charge(a, b)", line: 44 }, { line: 44 }],
    ["nearest to the claimed line, the other one", { quote: "charge(a, b)", line: 13 }, { line: 11 }],
    ["no claim and two places", { quote: "charge(a, b)" }, undefined],
    ["no claim and one place", { quote: "charge(a, c)" }, { line: 13 }],
    ["no quote", { line: 11 }, undefined],
    ["a blank quote", { quote: " \n ", line: 11 }, undefined],
    ["not in the diff", { quote: "somewhere(else)", line: 11 }, undefined],
    ["several lines", { quote: "if (b) {\n  charge(a, c)\n}", line: 12 }, { start: 12, line: 14 }],
    ["in a code fence", { quote: "```ts\ncharge(a, c)\n```" }, { line: 13 }],
    ["with the numbers of the prompt", { quote: "11+:   charge(a, b)", line: 11 }, { line: 11 }],
    [
      "with numbers and marks of removed lines",
      { quote: "11-:   charge(a)\n12-:   log(a)" },
      { start: 11, line: 12, side: "old" }
    ],
    ["with the numbers of a tool", { quote: "11:   charge(a, b)", line: 11 }, { line: 11 }],
    ["with marks of a diff", { quote: "+  if (b) {\n+    charge(a, c)" }, { start: 12, line: 13 }],
    ["a removed line", { quote: "log(a)", side: "old" }, { line: 12, side: "old" }],
    ["a removed line without saying so", { quote: "log(a)" }, { line: 12, side: "old" }],
    ["removed lines with marks", { quote: "-  charge(a)\n-  log(a)" }, { start: 11, line: 12, side: "old" }],
    ["context claimed as old is anchored new", { quote: "undo(a)", side: "old" }, { line: 43 }],
    ["a part of a line", { quote: 'callMe(x, "text", 12)', file: "lib/deep/util.ts" }, { line: 2 }],
    ["too small a part of a line", { quote: "12", file: "lib/deep/util.ts", line: 2 }, undefined],
    ["a brace close by", { quote: "  }", line: 15 }, { line: 14 }],
    ["a brace far away", { quote: "}", line: 30 }, undefined],
    ["a gap in the quote", { quote: "if (b) {\n...\n}", line: 12 }, { line: 12 }],
    ["a second line that is not there", { quote: "charge(a, c)\nnever_there()" }, { line: 13 }],
    ["over the end of a hunk", { quote: "}\nconst a = 1\nundo(a)", line: 42 }, undefined],
    ["the path before the rename", { file: "src/old.ts", quote: "charge(a, c)" }, { line: 13 }],
    ["the end of a path", { file: "util.ts", quote: "export const x = 1" }, { line: 1 }],
    ["a path with a prefix", { file: "b/src/pay.ts", quote: "charge(a, c)" }, { line: 13 }],
    ["an unknown path", { file: "nope.ts", quote: "charge(a, c)" }, undefined]
  ])("%s", (_name, fields, expected) => {
    const place = anchor(report({ file: "src/pay.ts", ...fields }))
    const { line, start, side } = place?.anchor ?? {}
    const given = expected === undefined ? [undefined] : [expected.line, expected.start, expected.side ?? "new"]
    expect(expected === undefined ? [place] : [line, start, side]).toEqual(given)
  })

  it("gives both numbers of a context line, and the path before a rename", () => {
    expect(anchor(report({ file: "src/pay.ts", quote: "undo(a)" }))?.anchor).toEqual({
      path: "src/pay.ts",
      oldPath: "src/old.ts",
      side: "new",
      line: 43,
      oldLine: 41,
      newLine: 43
    })
  })

  it.each<readonly [string, string, "new" | "old", unknown]>([
    ["one line", "charge(a, c)", "new", undefined],
    [
      "added lines",
      "if (b) {\n  charge(a, c)\n}",
      "new",
      { first: { kind: "added", old: 13, new: 12 }, last: { kind: "added", old: 13, new: 14 } }
    ],
    [
      "removed lines",
      "charge(a)\nlog(a)",
      "old",
      { first: { kind: "removed", old: 11, new: 11 }, last: { kind: "removed", old: 12, new: 11 } }
    ],
    [
      "unchanged and added lines",
      "undo(a)\ncharge(a, b)",
      "new",
      { first: { kind: "unchanged", old: 41, new: 43 }, last: { kind: "added", old: 42, new: 44 } }
    ],
    [
      "added and unchanged lines",
      "  }\n  return a\n}",
      "new",
      { first: { kind: "added", old: 13, new: 14 }, last: { kind: "unchanged", old: 14, new: 16 } }
    ]
  ])("gives the counters of both sides where a range begins and ends: %s", (_name, quote, side, range) => {
    expect(anchor(report({ file: "src/pay.ts", quote, side }))?.anchor.range).toEqual(range)
  })

  it("marks a quote that is not exactly the anchored lines", () => {
    const whole = (quote: string, file = "src/pay.ts") => anchor(report({ file, quote, line: 12 }))?.whole
    expect(whole("charge(a, c)")).toBe(true)
    expect(whole("callMe(x,", "lib/deep/util.ts")).toBe(false)
    expect(whole("if (b) {\n...\n}")).toBe(false)
    expect(whole("log(a)")).toBe(false)
  })
})
