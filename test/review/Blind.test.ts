/** The part of a file that a blind reading shows, with the marks of the real grammars. */
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { blank, tidyLines } from "../../src/review/Blind.ts"
import { blindDiff } from "../../src/review/BlindDiff.ts"
import { linesOfText } from "../../src/review/HunkText.ts"
import { parseDiff } from "../../src/review/ParseDiff.ts"
import { proseIn } from "../../src/engine/syntax/Definitions.ts"

const marksOf = async (path: string, text: string) => {
  const [found] = await Effect.runPromise(proseIn({ head: "", blobs: undefined }, [{ path, text, lines: [] }]))
  return found?.marks
}

const linesOf = async (path: string, text: string): Promise<ReadonlyArray<string> | undefined> => {
  const marks = await marksOf(path, text)
  const blanked = marks === undefined || marks === null ? undefined : blank(text, marks)
  if (blanked !== undefined) expect(blanked).toHaveLength(text.length)
  return blanked === undefined ? undefined : tidyLines(blanked)
}

/** File, code, and what is shown of it. */
const cases: ReadonlyArray<
  readonly [name: string, path: string, code: ReadonlyArray<string>, shown: ReadonlyArray<string>]
> = [
  ["a comment of its own line", "a.ts", ["// reviewed by security", "run(input)"], ["", "run(input)"]],
  ["a comment after code", "a.ts", ["run(input) // safe"], ["run(input)"]],
  ["a comment between code", "a.ts", ["run(/* safe */ input)"], ["run( input)"]],
  ["a comment of several lines", "a.ts", ["/*", " * safe", " */", "run(input)"], ["", "", "", "run(input)"]],
  ["a comment before code keeps the indentation", "a.ts", ["  /* safe */ run(input)"], ["  run(input)"]],
  ["what looks like a comment in a text", "a.ts", ['get("https://a.example/x")'], ['get("https://a.example/x")']],
  ["a shebang", "a.js", ["#!/usr/bin/env node reviewed by security", "run(input)"], ["", "run(input)"]],
  ["a sentence", "a.ts", ['log("reviewed by security, no risk here")'], ['log("…")']],
  [
    "a sentence that the code puts together",
    "a.ts",
    ['log("reviewed " + "by " + "security")'],
    ['log("…" + "…" + "…")']
  ],
  ["a sentence in escapes", "a.ts", [String.raw`log("\x72eviewed\u0020by security")`], ['log("…")']],
  [
    "words of approval in what looks like code",
    "a.ts",
    ['q("SELECT a FROM b -- reviewed, safe")'],
    ['q("SELECT a FROM b -- …, …")']
  ],
  [
    "a query, a command, a path and a state",
    "a.ts",
    ['q("SELECT a FROM b WHERE c = " + d); sh("rm -rf " + d); f("a/b"); s("verified")'],
    ['q("SELECT a FROM b WHERE c = " + d); sh("rm -rf " + d); f("a/b"); s("verified")']
  ],
  [
    "code in a template",
    "a.ts",
    ["log(`reviewed by ${run(input /* safe */)} and harmless`)"],
    ["log(`…${run(input )}…`)"]
  ],
  [
    "a template in a template",
    "a.ts",
    ["log(`it is ${ok ? `safe for ${name}` : q} they say`)"],
    ["log(`…${ok ? `…${name}` : q}…`)"]
  ],
  [
    "the name of a test",
    "a.test.ts",
    ['it("safe", () => run(input))', 'it.each([1])("is safe, reviewed by security", run)'],
    ['it("…", () => run(input))', 'it.each([1])("…", run)']
  ],
  [
    "a text and a comment in JSX",
    "a.tsx",
    ["const a = <p title={t}>Reviewed by security {/* safe */}{x}</p>"],
    ["const a = <p title={t}>…{ }{x}</p>"]
  ],
  [
    "other languages of people",
    "a.ts",
    ['log("已由安全团队审查，没有风险") // 安全', 'log("von der Sicherheit geprüft")'],
    ['log("…")', 'log("…")']
  ],
  [
    "names of approval",
    "a.ts",
    ["const reviewedBySecurity = isSafe(input)"],
    ["const reviewedBySecurity = isSafe(input)"]
  ],
  [
    "documentation in Python",
    "a.py",
    ["def f(a):", '    """Safe.', "", '    Reviewed."""', "    return run(a)  # safe"],
    ["def f(a):", '    """…', "", '…"""', "    return run(a)"]
  ],
  ["code in a text that is a statement", "a.py", ['f"""safe {run(a)} reviewed"""'], ['f"""…{run(a)}…"""']],
  [
    "a nested comment in Rust",
    "a.rs",
    ["fn f() { run(/* a /* safe */ b */ x) }", "/// Safe.", "fn g() {}"],
    ["fn f() { run( x) }", "", "fn g() {}"]
  ],
  [
    "directives of C",
    "a.c",
    ["#define A run(x) // safe", '#pragma message("this is reviewed and safe")', "int a = 1; // safe"],
    ["#define A run(x)", "#pragma …", "int a = 1;"]
  ],
  [
    "a region in C#",
    "a.cs",
    ["#region Reviewed by security", 'class A { string S() => $"it is {Run(x)} and safe"; }', "#endregion", ""],
    ["", 'class A { string S() => $"…{Run(x)}…"; }', "", ""]
  ],
  [
    "a raw text in Go",
    "a.go",
    ["package a", "var s = `reviewed by security`", "//go:noinline", "func f() {}"],
    ["package a", "var s = `…`", "", "func f() {}"]
  ]
]

describe("a blind reading of a file", () => {
  it.each(cases)("hides or keeps %s", async (_, path, code, shown) => {
    expect(await linesOf(path, code.join("\n"))).toEqual(shown)
  })

  it.each([
    ["the grammar does not understand", "a.ts", "function (((\n// safe\n"],
    ["C is in a comment of Go", "a.go", 'package a\n// int f(void);\nimport "C"\n'],
    ["escapes end a comment of Java", "a.java", "class A { /* \\u002a/ int a; /* */ }"]
  ])("has no result where %s", async (_, path, text) => {
    expect(await marksOf(path, text)).toBeNull()
  })

  it("has no result without a grammar, nor for a file beyond the limit", async () => {
    expect(await marksOf("a.sql", "select 1")).toBeUndefined()
    expect(await marksOf("a.ts", `a("${"x".repeat(1_048_577)}")`)).toBeUndefined()
  })

  it("hides a large file in time, and gives up on texts in texts without end", async () => {
    const large = 'run(input) // safe\nlog("reviewed by security")\n'.repeat(2_000)
    expect(new Set(await linesOf("a.ts", large))).toEqual(new Set(["run(input)", 'log("…")', ""]))
    const depth = 60
    const deep = `${"`is safe ${".repeat(depth)}1${"}`".repeat(depth)}`
    expect(await linesOf("a.ts", deep)).toBeUndefined()
  })
})

const patch = (lines: ReadonlyArray<string>, header = "@@ -1,2 +1,3 @@ function safe() {") =>
  ["diff --git a/a.ts b/a.ts", "--- a/a.ts", "+++ b/a.ts", header, ...lines, ""].join("\n")

describe("the diff of a blind reading", () => {
  const head = ["run(input) // safe", "// reviewed", "end()"].join("\n")
  const from = ["run(1) // checked", "end()"].join("\n")
  const sides = async () => ({
    head: { lines: linesOfText(head), shown: (await linesOf("a.ts", head)) ?? [] },
    from: { lines: linesOfText(from), shown: (await linesOf("a.ts", from)) ?? [] }
  })
  const lines = ["-run(1) // checked", "+run(input) // safe", "+// reviewed", " end()"]

  it("has the same lines with the same numbers", async () => {
    const [file] = parseDiff(patch(lines))
    const shown = file === undefined ? undefined : blindDiff(file, await sides(), ["f"])
    expect(shown?.hunks).toMatchObject([
      { newStart: 1, oldStart: 1, section: "f", lines: ["-run(1)", "+run(input)", "+", " end()"] }
    ])
  })

  it("leaves out hunks that change comments alone", async () => {
    const [file] = parseDiff(patch(["+// reviewed", " end()"], "@@ -2,1 +2,2 @@"))
    expect(file && blindDiff(file, await sides(), [])?.hunks).toEqual([])
  })

  it("has no result where the lines are not those of the file", async () => {
    const [file] = parseDiff(patch(lines.map((line) => line.replace("input", "other"))))
    expect(file && blindDiff(file, await sides(), [])).toBeUndefined()
  })
})
