import { describe, expect, it } from "vitest"
import * as fc from "fast-check"
import type { ReportedProblem } from "../../src/domain/Problem.ts"
import { makeAnchorer } from "../harness/Anchorer.ts"
import type { FileDiff } from "../../src/review/FileDiff.ts"
import { canonicalCategory } from "../../src/domain/CanonicalCategory.ts"
import { fingerprint } from "../../src/review/Identity.ts"

/** A file of functions, each with statements; some statements stand in several functions. */
interface Source {
  readonly functions: ReadonlyArray<{ readonly name: string; readonly statements: ReadonlyArray<string> }>
}

const statement = fc.oneof(
  fc.constantFrom("return cache.get(key)", "total += items[i].price", "await client.close()", "log(error)"),
  fc.nat({ max: 99 }).map((n) => `const v${n} = lookup(table, ${n})`)
)
const source: fc.Arbitrary<Source> = fc
  .uniqueArray(fc.nat({ max: 40 }), { minLength: 2, maxLength: 6 })
  .chain((ids) =>
    fc.tuple(
      ...ids.map((id) =>
        fc.record({ name: fc.constant(`step${id}`), statements: fc.array(statement, { minLength: 2, maxLength: 8 }) })
      )
    )
  )
  .map((functions) => ({ functions }))

const print = ({ functions }: Source, indent = "  ", gap = 1): ReadonlyArray<string> =>
  functions.flatMap(({ name, statements }) => [
    `function ${name}(input) {`,
    ...statements.map((text) => `${indent}${text}`),
    "}",
    ...Array.from({ length: gap }, () => "")
  ])

/** A diff in which a window of the file around a line was added. */
const diffAround = (lines: ReadonlyArray<string>, line: number, before: number, after: number): FileDiff => {
  const start = Math.max(0, line - 1 - before)
  const window = lines.slice(start, line + after)
  return {
    path: "src/steps.ts",
    oldPath: undefined,
    status: "modified",
    oldMode: "100644",
    newMode: "100644",
    binary: false,
    additions: window.length,
    deletions: 0,
    bytes: 0,
    hunks: [
      {
        oldStart: start,
        oldLines: 0,
        newStart: start + 1,
        newLines: window.length,
        section: "",
        lines: window.map((text) => `+${text}`),
        openEnd: { old: false, new: false }
      }
    ]
  }
}

const identify = (
  lines: ReadonlyArray<string>,
  line: number,
  window: readonly [number, number],
  said: string
): string => {
  const file = diffAround(lines, line, ...window)
  const problem: ReportedProblem = {
    file: file.path,
    line,
    severity: "high",
    category: "bug",
    message: said,
    quote: (lines[line - 1] ?? "").trim()
  }
  const place = makeAnchorer([file])(problem)
  expect(place?.anchor.line).toBe(line)
  return fingerprint(problem, place, lines)
}

interface Place {
  readonly source: Source
  /** Index of function and statement. */
  readonly at: readonly [number, number]
}
const place: fc.Arbitrary<Place> = source.chain((whole) =>
  fc.tuple(fc.nat(), fc.nat()).map(([f, s]) => {
    const index = f % whole.functions.length
    return { source: whole, at: [index, s % (whole.functions[index]?.statements.length ?? 1)] as const }
  })
)

const lineAt = ({ functions }: Source, [f, s]: readonly [number, number], gap = 1): number =>
  functions.slice(0, f).reduce((sum, { statements }) => sum + statements.length + 2 + gap, 0) + s + 2

describe("identity", () => {
  it("survives moves, layout and rewording", () => {
    fc.assert(
      fc.property(
        place,
        fc.array(
          fc.record({
            name: fc.nat({ max: 9 }).map((n) => `new${n}`),
            statements: fc.array(statement, { maxLength: 4 })
          }),
          { maxLength: 3 }
        ),
        fc.constantFrom("  ", "    ", "\t"),
        fc.nat({ max: 3 }),
        fc.tuple(fc.nat({ max: 4 }), fc.nat({ max: 4 })),
        ({ source: whole, at }, added, indent, gap, window) => {
          const before = identify(print(whole), lineAt(whole, at), [3, 3], "first words")
          const moved = { functions: [...added, ...whole.functions] }
          const now = [at[0] + added.length, at[1]] as const
          expect(identify(print(moved, indent, gap), lineAt(moved, now, gap), window, "other words")).toBe(before)
        }
      ),
      { numRuns: 500 }
    )
  })

  it("changes with the code, and distinguishes equal lines of one file", () => {
    fc.assert(
      fc.property(place, ({ source: whole, at }) => {
        const lines = print(whole)
        const line = lineAt(whole, at)
        const before = identify(lines, line, [3, 3], "x")
        const edited = lines.with(line - 1, `${lines[line - 1]} // but not now`)
        expect(identify(edited, line, [3, 3], "x")).not.toBe(before)
        const all = lines.flatMap((text, index) =>
          text.startsWith("  ") ? [identify(lines, index + 1, [0, 0], "x")] : []
        )
        expect(new Set(all).size).toBe(all.length)
      }),
      { numRuns: 500 }
    )
  })

  it.each([
    ["Bug", "correctness"],
    ["Race condition", "concurrency"],
    ["SQL_Injection", "security"],
    ["constructor", "constructor"],
    ["名前", "名前"]
  ])("category %s is %s", (given, expected) => expect(canonicalCategory(given)).toBe(expected))

  it("goes by the path before a rename", () => {
    const lines = ["function a() {", "  b()", "}"]
    const of = (path: string, oldPath: string | undefined) => {
      const file = { ...diffAround(lines, 2, 1, 1), path, oldPath }
      const problem: ReportedProblem = {
        file: path,
        line: 2,
        severity: "low",
        category: "bug",
        message: "m",
        quote: "b()"
      }
      return fingerprint(problem, makeAnchorer([file])(problem), lines)
    }
    expect(of("new.ts", "old.ts")).toBe(of("old.ts", undefined))
    expect(of("new.ts", undefined)).not.toBe(of("old.ts", undefined))
  })
})
