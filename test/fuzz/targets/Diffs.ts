/** Diffs that git prints, and quotes of a model that are searched for in them. */
import { makeAnchorer } from "../../harness/Anchorer.ts"
import type { FileDiff } from "../../../src/review/FileDiff.ts"
import { numberLines } from "../../../src/review/FileDiff.ts"
import { DiffFormatError, parseDiff } from "../../../src/review/ParseDiff.ts"
import type { FuzzTarget } from "../Target.ts"
import { bytes, ensure, text } from "../Target.ts"

const patch = `diff --git a/src/a.ts b/src/a.ts
index 1111111..2222222 100644
--- a/src/a.ts
+++ b/src/a.ts
@@ -1,4 +1,5 @@ export const a
 one
-two
+two and a half
+three
 four
 five
\\ No newline at end of file
diff --git "a/sp\\303\\244ce d" "b/sp\\303\\244ce e"
similarity index 90%
rename from "sp\\303\\244ce d"
rename to "sp\\303\\244ce e"
index 1111111..3333333
--- "a/sp\\303\\244ce d"
+++ "b/sp\\303\\244ce e"
@@ -10 +10 @@
-x
+y
diff --git a/logo.png b/logo.png
new file mode 100644
index 0000000..4444444
Binary files /dev/null and b/logo.png differ
diff --git a/gone b/gone
deleted file mode 100644
index 5555555..0000000
--- a/gone
+++ /dev/null
@@ -1,2 +0,0 @@
-a
-b
`

const parse = (input: string): ReadonlyArray<FileDiff> | undefined => {
  try {
    return parseDiff(input)
  } catch (error) {
    // A patch that is not one is refused with an error of its own.
    if (error instanceof DiffFormatError) return undefined
    throw error
  }
}

const diff: FuzzTarget = {
  name: "diff",
  maxBytes: 65_536,
  seeds: () => [bytes(patch), bytes("")],
  words: [
    "diff --git ",
    "@@ -1 +1 @@\n",
    "@@ -1,2 +1,3 @@",
    "rename from ",
    "Binary files ",
    "\\ No newline",
    "--- ",
    "+++ ",
    "\n+",
    "\n-",
    "160000"
  ],
  check: (input) => {
    for (const file of parse(text(input)) ?? []) {
      const lines = file.hunks.flatMap((hunk) => numberLines(hunk))
      ensure(lines.filter(({ kind }) => kind === "+").length === file.additions, "additions are counted")
      ensure(lines.filter(({ kind }) => kind === "-").length === file.deletions, "deletions are counted")
    }
  }
}

const files = parseDiff(patch)
const anchor = makeAnchorer(files)

const quote: FuzzTarget = {
  name: "quote",
  seeds: () =>
    ["two and a half\nthree", "+three", "```ts\n+ two and a half\n```", "@@ -1,4 +1,5 @@\n-two", "y"].map(bytes),
  words: ["```", "~~~", "+", "-", "1 | ", "12: ", "…", "..."],
  check: (input) => {
    for (const file of ["src/a.ts", "späce e", "gone"]) {
      const anchored = anchor({ file, line: 2, severity: "low", category: "bug", message: "m", quote: text(input) })
      if (anchored === undefined) continue
      const { side, line, start = line } = anchored.anchor
      const lines = anchored.file.hunks.flatMap((hunk) => numberLines(hunk))
      const numbers = new Set(lines.map((one) => (side === "new" ? one.newLine : one.oldLine)))
      ensure(start <= line && numbers.has(line) && numbers.has(start), "an anchor is on lines of the diff")
    }
  }
}

export const diffs: ReadonlyArray<FuzzTarget> = [diff, quote]
