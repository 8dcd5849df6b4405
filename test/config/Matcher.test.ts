/** Matchers agree with a simple implementation of their rules, and their cost grows with the text alone. */
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { compileMatcher, foldText, literalPrefix } from "../../src/config/Matcher.ts"
import type { MatcherConfig } from "../../src/config/Matcher.ts"

/** Reference implementation of globs. */
const globReference = (pattern: ReadonlyArray<string>, text: ReadonlyArray<string>): boolean => {
  const [sign, ...rest] = pattern
  if (sign === undefined) return text.length === 0
  if (sign === "*") return text.some((_, index) => globReference(rest, text.slice(index))) || globReference(rest, [])
  const [first, ...others] = text
  return first !== undefined && (sign === "?" || sign === first) && globReference(rest, others)
}

const signs = fc.constantFrom("a", "b", "A", "/", ".", "[", "]", "{", "}", "!", "(", "|", "+", "\\", "é", "文", "😀")
const texts = fc.array(signs, { maxLength: 12 })
const globs = fc.array(fc.oneof(signs, fc.constantFrom("*", "?")), { minLength: 1, maxLength: 8 })

describe("glob", () => {
  it("agrees with the reference on anything", () => {
    fc.assert(
      fc.property(globs, texts, (glob, text) => {
        expect(compileMatcher({ glob: glob.join("") })(text.join(""))).toBe(globReference(glob, text))
      }),
      { numRuns: 5000 }
    )
  })
  it("agrees with it on texts made from the glob", () => {
    fc.assert(
      fc.property(globs, fc.array(texts, { minLength: 8, maxLength: 8 }), (glob, fill) => {
        const text = glob.flatMap((sign, index) =>
          sign === "*" ? (fill[index] ?? []) : sign === "?" ? ["😀"] : [sign]
        )
        expect(compileMatcher({ glob: glob.join("") })(text.join(""))).toBe(true)
      }),
      { numRuns: 2000 }
    )
  })
  it.each([
    ["org/*", "org/app", true],
    ["org/*", "org/group/app", true],
    ["org/*", "Org/app", false],
    ["*", "", true],
    ["?", "😀", true],
    ["??", "😀", false],
    ["a?c", "abc", true],
    ["{a,b}", "a", false],
    ["{a,b}", "{a,b}", true],
    ["[ab]", "a", false],
    ["!(a)", "b", false],
    ["a", "ab", false],
    ["*b", "abab", true]
  ])("%s on %j: %s", (glob, text, hit) => {
    expect(compileMatcher({ glob })(text)).toBe(hit)
  })
})

describe("regex", () => {
  const source = fc
    .array(
      fc.oneof(
        fc.constantFrom("a", "b", "c", ".", "\\.", "[ab]", "[^a]", "(a|b)", "(?:ab)"),
        fc.constantFrom("a*", "b+", "c?", "(ab)*", "a{1,2}", "^", "$")
      ),
      { minLength: 1, maxLength: 6 }
    )
    .map((parts) => parts.join(""))
  it("agrees with JavaScript where both support the syntax", () => {
    fc.assert(
      fc.property(source, fc.string({ unit: fc.constantFrom("a", "b", "c", "."), maxLength: 12 }), (regex, text) => {
        expect(compileMatcher({ regex })(text)).toBe(new RegExp(regex).test(text))
      }),
      { numRuns: 5000 }
    )
  })
  it.each([
    ["app", "org/app-1", true],
    ["^app", "org/app", false],
    ["^org/app$", "org/app", true],
    ["(?i)ORG", "org", true]
  ])("%s on %j: %s", (regex, text, hit) => {
    expect(compileMatcher({ regex })(text)).toBe(hit)
  })
})

describe("ignore_case", () => {
  it.each<readonly [MatcherConfig, string]>([
    [{ exact: "Org/App" }, "oRG/aPP"],
    [{ glob: "Org/*" }, "ORG/x"],
    [{ regex: "^Org/" }, "ORG/x"]
  ])("%j hits %j only with it", (matcher, text) => {
    expect(compileMatcher(matcher)(text)).toBe(false)
    expect(compileMatcher({ ...matcher, ignore_case: true })(text)).toBe(true)
  })
  it("never changes the number of code points", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary" }),
        (text) => Array.from(foldText(text)).length === Array.from(text).length
      )
    )
    expect(compileMatcher({ glob: "?", ignore_case: true })("İ")).toBe(true)
  })
})

describe("literal prefix", () => {
  const matchers = fc.oneof(
    globs.map((glob): MatcherConfig => ({ glob: glob.join("") })),
    fc
      .tuple(
        fc.constantFrom("^", ""),
        fc.array(fc.constantFrom("a", "k", "s", "\\.", "/", "b?", "c*", "(d)", ".", "e{0,1}", "a|b", "$"), {
          maxLength: 5
        })
      )
      .map(([anchor, parts]): MatcherConfig => ({ regex: `${anchor}${parts.join("")}x?` }))
  )
  it("starts everything that matches, folded", () => {
    fc.assert(
      fc.property(
        matchers,
        fc.boolean(),
        fc.string({
          unit: fc.constantFrom("a", "b", "k", "K", "s", "ſ", "\u212a", ".", "/", "c", "d", "e", "x"),
          maxLength: 8
        }),
        (matcher, ignore_case, text) => {
          const config = { ...matcher, ignore_case }
          const missed = compileMatcher(config)(text) && !foldText(text).startsWith(foldText(literalPrefix(config)))
          expect(missed).toBe(false)
        }
      ),
      { numRuns: 8000 }
    )
  })
  it.each([
    [{ exact: "a/b" }, "a/b"],
    [{ glob: "org/*" }, "org/"],
    [{ regex: "^org/app-.+$" }, "org/app-"],
    [{ regex: "^orgs?/" }, "org"],
    [{ regex: "^a\\.b" }, "a.b"],
    [{ regex: "org" }, ""],
    [{ regex: "^(a|b)/" }, ""]
  ])("of %j is %j", (matcher, prefix) => {
    expect(literalPrefix(matcher)).toBe(prefix)
  })
})

describe("cost", () => {
  const long = (unit: string): string => unit.repeat(Math.floor(1000 / unit.length))
  it.each<readonly [string, MatcherConfig, string]>([
    ["nested repetitions", { regex: "^(a*)*(a*)*[bc]$" }, "a"],
    ["alternatives", { regex: `^(${long("aa|a|")}a)*[bc]$` }, "a"],
    ["many optional", { regex: `${"a?".repeat(250)}${"a".repeat(250)}[bc]$` }, "a"],
    ["words of any length", { regex: `${".*a".repeat(60)}[bc]$` }, "a"],
    ["many stars", { glob: `${long("*a")}b` }, "a"],
    ["one star and a long word", { glob: `*${long("a")}b` }, "a"],
    ["stars and question marks", { glob: `*${long("?a")}b` }, "a"]
  ])("of %s doubles when the text doubles", (_, matcher, unit) => {
    const test = compileMatcher(matcher)
    const cost = (length: number, runs: number): number => {
      const text = `${unit.repeat(length - 1)}d`
      const times = Array.from({ length: runs }, () => {
        const start = process.cpuUsage()
        expect(test(text)).toBe(false)
        const { user } = process.cpuUsage(start)
        return user / 1000
      })
      return Math.min(...times)
    }
    cost(1024, 3)
    const [quarter, whole] = [cost(16 * 1024, 3), cost(64 * 1024, 1)]
    // Twice as much text takes at most three times the time; durations below a few milliseconds are too short to compare.
    expect(whole).toBeLessThan(Math.max(3 * 3 * quarter, 20))
    // 700 ms on an idle machine; one whose processors are shared takes several times as long.
    expect(whole).toBeLessThan(6000)
  })
  it("a text beyond 64 KiB matches nothing", () => {
    expect(compileMatcher({ glob: "*" })("a".repeat(64 * 1024))).toBe(true)
    expect(compileMatcher({ glob: "*" })("a".repeat(64 * 1024 + 1))).toBe(false)
  })
})
