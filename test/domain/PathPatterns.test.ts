/** Path patterns match what picomatch and git match, and their cost grows with the path alone, also for hostile input. */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as fc from "fast-check"
import picomatch from "picomatch"
import { describe, expect, it } from "vitest"
import { expandBraces } from "../../src/domain/Braces.ts"
import { anyGlob } from "../../src/domain/Globs.ts"
import { compilePaths } from "../../src/domain/PathPatterns.ts"
import { parseIgnoreFile } from "../../src/review/IgnoreFile.ts"

const name = fc
  .array(fc.constantFrom("a", "b", "ab", ".", "-"), { minLength: 1, maxLength: 4 })
  .map((all) => all.join(""))
  // In picomatch `*.*` does not match `a.`.
  .filter((one) => !/^\.|\.$/.test(one))
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((all) => all.join("/"))
const piece = fc.constantFrom("a", "b", "*", "?", "[ab]", "[^a]", "[a-b]", ".", "-", "\\a")
const patternName = fc.oneof(
  { weight: 3, arbitrary: fc.array(piece, { minLength: 1, maxLength: 4 }).map((all) => all.join("")) },
  { weight: 1, arbitrary: fc.constant("**") }
)
const pattern = fc.array(patternName, { minLength: 1, maxLength: 4 }).map((all) => all.join("/"))
const braced = fc
  .tuple(
    fc.array(pattern, { minLength: 2, maxLength: 3 }),
    fc.constantFrom("", "a", "a/", "**/"),
    fc.constantFrom("", "b", "/b")
  )
  .map(([parts, before, after]) => `${before}{${parts.join(",")}}${after}`)
  // In picomatch a `**` next to a brace is no globstar.
  .filter((glob) => !/[{,]\*\*|\*\*[,}]/.test(glob))
/**
 * Returns whether both implementations agree on a glob: some stars that are not whole names cross folders in picomatch, and `./` has no
 * meaning there.
 */
const isAlike = (glob: string): boolean => !/\.\.|(^|[/{,])\.([/},]|$)|[^/*]\*\*|\*\*[^/]/.test(glob)

describe("globs of the configuration", () => {
  it.each([
    ["one pattern", pattern],
    ["braces", braced]
  ] as const)("are those of picomatch: %s", (_, globs) => {
    let matched = 0
    fc.assert(
      fc.property(globs, path, (glob, given) => {
        fc.pre(isAlike(glob))
        const expected = picomatch(glob, { dot: true, noextglob: true })(given)
        if (expected) matched++
        expect(anyGlob([glob])(given)).toBe(expected)
      }),
      { numRuns: 4000 }
    )
    expect(matched).toBeGreaterThan(30)
  })

  it.each([
    ["a/**", "a"],
    ["a/**", "a/b/c"],
    ["**/a/**", "a"],
    ["**", "a/b"],
    ["a**b", "axb"],
    ["a**b", "a/b"],
    ["**.ts", "x/a.ts"],
    ["***/a", "x/a"],
    ["{a..c}", "b"],
    ["{1..3}", "2"],
    ["a{,b}", "a"],
    ["{a}", "{a}"],
    ["a{b", "a{b"],
    ["{a,b", "{a,b"],
    ["{a,{b,c}}d", "cd"],
    ["{[,],x}", ","],
    ["{a,b\\}c}", "b}c"],
    ["!a", "a"],
    ["!a", "b"],
    ["!!a", "a"],
    ["./a", "a"],
    ["a[+-9]b", "a0b"],
    ["a.b", "axb"],
    ["$a^", "$a^"],
    ["*.{min.js,lock}", "x.lock"]
  ])("%s and %s: as picomatch", (glob, given) => {
    expect(anyGlob([glob])(given)).toBe(picomatch(glob.replace(/^\.\//, ""), { dot: true, noextglob: true })(given))
  })

  it.each([
    ["a group of a regular expression", "(a|b)", "a", false],
    ["a class that is negated by !", "[!a]", "b", true],
    ["one character outside of the basic plane", "?", "😀", true],
    ["a class never matches a slash", "a[+-9]b", "a/b", false],
    ["quotes are characters", '"a"', "a", false]
  ])("are not those of picomatch: %s", (_, glob, given, expected) => {
    expect(anyGlob([glob])(given)).toBe(expected)
    expect(picomatch(glob, { dot: true, noextglob: true })(given)).toBe(!expected)
  })
})

describe("rules of the ignore file", () => {
  it("are those of git", () => {
    const folder = mkdtempSync(join(tmpdir(), "ignore-"))
    const git = (args: ReadonlyArray<string>, input = "") =>
      spawnSync("git", ["-C", folder, ...args], { input, encoding: "utf8", env: { ...process.env, LC_ALL: "C" } })
        .stdout
    git(["init", "-q"])
    let ignored = 0
    fc.assert(
      fc.property(
        fc.tuple(fc.constantFrom("", "/", "**/"), pattern, fc.constantFrom("", "/")).map((all) => all.join("")),
        fc.uniqueArray(path, { minLength: 20, maxLength: 20 }),
        (rule, paths) => {
          fc.pre(!/(^|\/)\.{1,2}(\/|$)/.test(rule))
          writeFileSync(join(folder, ".gitignore"), `${rule}\n`)
          const expected = git(["check-ignore", "--no-index", "--stdin"], paths.join("\n"))
            .split("\n")
            .filter((one) => one !== "")
          ignored += expected.length
          const { ignoredBy, refused } = parseIgnoreFile(rule)
          // A rule with too many wildcards is refused, and the review names it.
          fc.pre(refused.length === 0)
          expect([rule, ...paths.filter((one) => ignoredBy(one) !== undefined)]).toEqual([rule, ...expected])
        }
      ),
      { numRuns: 100 }
    )
    expect(ignored).toBeGreaterThan(30)
    rmSync(folder, { recursive: true })
  })
})

describe("patterns", () => {
  const matches = (text: string, given: string) => compilePaths([{ text }]).last(given) === 0
  it.each([
    ["[]a]", "]", true],
    ["[", "[", true],
    ["[a", "[a", true],
    ["[!a-c]", "b", false],
    ["[^a-c]", "d", true],
    ["[z-a]", "m", false],
    ["[\\]]", "]", true],
    ["a\\*", "a*", true],
    ["a\\*", "ab", false],
    ["a\\", "a\\", true],
    ["a**b", "axxb", true],
    ["a**b", "a/b", false],
    ["**/**/a/**/**/b", "a/b", true],
    ["?", "😀", true],
    ["", "a", false],
    ["a+b|c(d)$^", "a+b|c(d)$^", true]
  ])("%s and %s: %s", (given, text, expected) => expect(matches(given, text)).toBe(expected))

  it("of a list are matched together: the last one that matches counts, across words of states", () => {
    const texts = Array.from({ length: 300 }, (_, at) => `**/f${at % 150}/*.x`)
    const together = compilePaths(texts.map((text) => ({ text })))
    for (const at of [0, 1, 77, 149]) expect(together.last(`a/b/f${at}/y.x`)).toBe(150 + at)
    expect(together.last("a/f150/y.x")).toBe(-1)
    fc.assert(
      fc.property(fc.array(pattern, { minLength: 1, maxLength: 40 }), path, (patterns, given) => {
        const all = compilePaths(patterns.map((text) => ({ text })))
        expect(all.last(given)).toBe(patterns.findLastIndex((text) => matches(text, given)))
      }),
      { numRuns: 2000 }
    )
  })

  it.each([
    ["a path", { text: "a/*" }, [true, false]],
    ["what is below it", { text: "a/*", reach: "within" as const }, [false, true]],
    ["both", { text: "a/*", reach: "both" as const }, [true, true]]
  ])("reach %s", (_, given, expected) => {
    const all = compilePaths([given])
    expect(["a/b", "a/b/c"].map((one) => all.last(one) === 0)).toEqual(expected)
  })
})

describe("braces", () => {
  it.each([
    ["a.{ts,js}", ["a.ts", "a.js"]],
    ["{a,b{c,d}}/{x}", ["a/{x}", "bc/{x}", "bd/{x}"]],
    ["\\{a,b}", ["\\{a,b}"]],
    ["{c..a}", ["[a-c]"]],
    ["a", ["a"]]
  ])("%s expands to %j", (given, expected) => expect(expandBraces(given, 64)).toEqual(expected))

  it("stand for a bounded number of patterns, and are read to a bounded depth", () => {
    expect(expandBraces("{a,b}".repeat(200), 64)).toHaveLength(64)
    expect(expandBraces("{a,".repeat(10_000), 64)).toEqual(["{a,".repeat(10_000)])
    expect(expandBraces(`${"{".repeat(10_000)}a,b${"}".repeat(10_000)}`, 64)).toHaveLength(2)
  })
})
