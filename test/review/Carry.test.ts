/** A carried finding has the anchor that a new review would give it. */
import { describe, expect, it } from "vitest"
import type { Finding, ReportedProblem } from "../../src/domain/Problem.ts"
import { makeAnchorer } from "../harness/Anchorer.ts"
import { carry, readPatches } from "../../src/review/Carry.ts"
import { parseDiff } from "../../src/review/ParseDiff.ts"

const path = "src/pay.ts"

/** One patch, its hunks where the base has them. */
const diffAt = (old: number, now: number) =>
  parseDiff(`diff --git a/${path} b/${path}
--- a/${path}
+++ b/${path}
@@ -${old},5 +${now},6 @@ function pay() {
   const a = 1
-  charge(a)
-  log(a)
+  charge(a, b)
+  if (b) log(b)
+  send(a)
   return a
   // the end
`)

describe("a carried finding", () => {
  it.each<readonly [string, string, "new" | "old"]>([
    ["an added line", "send(a)", "new"],
    ["an unchanged line", "return a", "new"],
    ["added lines", "charge(a, b)\nif (b) log(b)", "new"],
    ["removed lines", "charge(a)\nlog(a)", "old"],
    ["added and unchanged lines", "send(a)\nreturn a\n// the end", "new"]
  ])("is on its lines: %s", (_name, quote, side) => {
    const [before, after] = [diffAt(10, 12), diffAt(15, 14)]
    const problem: ReportedProblem = { file: path, quote, side, severity: "low", category: "bug", message: "m" }
    const [was, is] = [before, after].map((files) => makeAnchorer(files)(problem)?.anchor)
    if (was === undefined) throw new Error(`${quote} is not in the diff`)
    const finding: Finding = { fingerprint: "f", problem, anchor: was }
    const ids = new Map([[path, "same"]])
    const previous = { findings: [finding], patches: readPatches(before, ids, [finding]) }
    expect(carry(after, ids, previous).findings.map(({ anchor }) => anchor)).toEqual([is])
    expect(is).not.toEqual(was)
  })
})
