/** Patterns match what the matcher of the configuration matches, and take no time over names that were made to take it. */
import * as fc from "fast-check"
import picomatch from "picomatch"
import { describe, expect, it } from "vitest"
import { parseIgnoreFile } from "../../src/review/IgnoreFile.ts"
import { alternatives, namesOf, pathPattern } from "../../src/review/PathPattern.ts"

const name = fc
  .array(fc.constantFrom("a", "b", "ab", ".", "-"), { minLength: 1, maxLength: 4 })
  .map((all) => all.join(""))
const path = fc
  .array(
    // There `*.*` is not `a.`.
    name.filter((one) => !/^\.|\.$/.test(one)),
    { minLength: 1, maxLength: 4 }
  )
  .map((all) => all.join("/"))
const piece = fc.constantFrom("a", "b", "*", "?", "[ab]", "[^a]", "[a-b]", ".", "-", "\\a")
const patternName = fc.oneof(
  { weight: 3, arbitrary: fc.array(piece, { minLength: 1, maxLength: 4 }).map((all) => all.join("")) },
  { weight: 1, arbitrary: fc.constant("**") }
)
const pattern = fc.array(patternName, { minLength: 1, maxLength: 4 }).map((all) => all.join("/"))

describe("path patterns", () => {
  it("are globs", () => {
    let matched = 0
    fc.assert(
      fc.property(pattern, path, (glob, given) => {
        // `a/**` is taken for `a` as well there, stars that stand together for folders, and `./` for nothing.
        fc.pre(!/(^|\/)\.{1,2}(\/|$)|\/\*\*$|^\*\*$|[^/*]\*\*|\*\*[^/]/.test(glob))
        const expected = picomatch(glob, { dot: true, noextglob: true, nobrace: true, nonegate: true })(given)
        if (expected) matched++
        expect(pathPattern(glob)(namesOf(given))).toBe(expected)
      }),
      { numRuns: 20_000 }
    )
    expect(matched).toBeGreaterThan(300)
  })

  it.each([
    ["a.{ts,js}", ["a.ts", "a.js"]],
    ["{a,b{c,d}}/{x}", ["a/{x}", "bc/{x}", "a/{x}", "bd/{x}"]],
    ["\\{a,b}", ["\\{a,b}"]],
    ["a", ["a"]],
    ["{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", expect.any(Array)]
  ])("%s stands for %j", (given, expected) => expect(alternatives(given)).toEqual(expected))

  it.each([
    ["[]a]", "]", true],
    ["[", "[", true],
    ["[a", "[a", true],
    ["[!a-c]", "b", false],
    ["[^a-c]", "d", true],
    ["[\\]]", "]", true],
    ["a\\*", "a*", true],
    ["a\\*", "ab", false],
    ["a**b", "axxb", true],
    ["a**b", "a/b", false],
    ["?", "😀", true],
    ["a+b|c(d)$^", "a+b|c(d)$^", true]
  ])("%s and %s: %s", (given, text, expected) => expect(pathPattern(given)(namesOf(text))).toBe(expected))

  it("compare a bounded number of times", () => {
    let compared = 0
    const counted = (length: number, part: string): ReadonlyArray<string> =>
      new Proxy(
        Array.from({ length }, () => part),
        { get: (target, key) => (compared++, Reflect.get(target, key) as unknown) }
      )
    expect(pathPattern("**/a/**/a/**/a/**/a/**/a/b")(counted(2000, "a"))).toBe(false)
    expect(compared).toBeLessThan(100_000)
  })

  it("of an ignore file come to an end", () => {
    const { ignores } = parseIgnoreFile("*a*a*a*a*a*a*a*b\na/**/a/**/a/**/a/**/b")
    expect(ignores("a".repeat(4000))).toBe(false)
    expect(ignores("a/".repeat(2000))).toBe(false)
  })
})
