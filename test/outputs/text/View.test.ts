import { describe, expect, it } from "vitest"
import type { Analysis } from "../../../src/domain/Analysis.ts"
import { gfm } from "../../../src/outputs/SafeText.ts"
import { problemView, summaryView } from "../../../src/outputs/text/View.ts"
import { analysis, finding, input } from "../Fixtures.ts"

describe("a problem", () => {
  const style = { language: "en", suggestions: "lines", safe: gfm } as const

  it("has its location, as a link where the host has one", () => {
    const [without, withLink] = [undefined, "http://forge.test/a"].map((link) => problemView(finding(3), style, link))
    expect(without).toMatchObject({ place_link: "`src/a.ts`:3", title_link: "Title 3 · `src/a.ts`:3" })
    expect(withLink).toMatchObject({
      place_link: "[`src/a.ts`:3](http://forge.test/a)",
      title_link: "[Title 3](http://forge.test/a) · `src/a.ts`:3"
    })
  })

  it("has the lines of its location in the block for coding agents, not those that the model wrote", () => {
    const one = finding(3)
    const view = problemView({ ...one, problem: { ...one.problem, line: 9 } }, style, undefined)
    expect(view.place_link).toBe("`src/a.ts`:3")
    expect(view.agent_block).toContain("\nLines: 3\n")
  })
})

it.each([
  ["en", "security", "security"],
  ["zh-CN", "security", "安全"],
  // What a model made up stays.
  ["zh-CN", "Feng Shui", "Feng Shui"]
])("a category is shown in the language of the review: %s %s", (language, category, expected) => {
  const one = finding(3)
  const view = problemView(
    { ...one, problem: { ...one.problem, category } },
    { language, suggestions: "lines", safe: gfm }
  )
  expect(view).toMatchObject({ category, category_label: expected })
})

it("a problem that only the words of the author refuted has that as the reason for which it was kept", () => {
  const { anchor: _anchor, ...unanchored } = finding(3)
  const quoted = { ...finding(3), problem: { ...finding(3).problem, quote: "run(input)" } }
  for (const one of [quoted, unanchored]) {
    const why = (explained: boolean | undefined) =>
      problemView({ ...one, explained }, { language: "en", suggestions: "lines", safe: gfm }).why_block
    expect(why(true)).toContain("the code alone does not, so the finding is kept.")
    expect(why(undefined) ?? "").not.toContain("the finding is kept")
  }
})

it("a problem that breaks a rule names it", () => {
  const one = finding(3)
  const view = problemView(
    { ...one, problem: { ...one.problem, rule: "no-floating" } },
    { language: "en", suggestions: "lines", safe: gfm }
  )
  expect(view.rule).toBe("rule `no-floating`")
})

it("the coverage names the instructions that applied, and those that do not exist", () => {
  const shares = { visible: [], inline: [], hidden: 0, late: [], folded: [] }
  const options = { mention: false, since: false, notices: [], safe: gfm }
  const read = { reviewed: ["a"], skipped: [], lines: 1 }
  const instructions = [
    { source: "AGENTS.md", found: 1, applied: 1 },
    { source: ".cursor/rules", found: 3, applied: 0 }
  ] as const
  const view = (coverage: Analysis["coverage"]) =>
    summaryView(input([], { analysis: analysis([], { coverage }) }), shares, options).coverage
  expect(view({ ...read, instructions })).toMatchObject({
    instructions: "`AGENTS.md`, `.cursor/rules` (0 of 3)",
    not_found: expect.stringMatching(/^`CLAUDE\.md`, `REVIEW\.md`, .*`\.agents\/skills`$/)
  })
  expect(view(read)).not.toHaveProperty("instructions")
})

it("the coverage names the settings of the repository: applied, not permitted, or not found", () => {
  const shares = { visible: [], inline: [], hidden: 0, late: [], folded: [] }
  const options = { mention: false, since: false, notices: [], safe: gfm }
  const settings = (given: Analysis["settings"]) =>
    summaryView(input([], { analysis: { ...analysis([]), settings: given } }), shares, options).coverage.settings
  const found = { found: true, applied: ["review.exclude"], notAllowed: ["a`b"], review: {} }
  expect(settings(found)).toBe("`review.exclude`; not permitted: ``a`b``")
  expect(settings({ ...found, found: false })).toBe("`.aicr/settings.yaml` (Not found)")
  expect(settings({ ...found, applied: [], notAllowed: [] })).toBe("none")
  expect(settings(undefined)).toBeUndefined()
})

describe("the coverage of a large change", () => {
  const paths = Array.from({ length: 10_000 }, (_, at) => `src/file${at}.ts`)
  const skipped = paths.map((path) => ({ path, reason: "max_files" as const }))
  const given = input([], { analysis: analysis([], { coverage: { reviewed: paths, skipped, lines: 1 } }) })

  it("renders only the listed paths", () => {
    let rendered = 0
    const safe = { ...gfm, codeSpan: (text: string) => (rendered++, gfm.codeSpan(text)) }
    const shares = { visible: [], inline: [], hidden: 0, late: [], folded: [] }
    const { coverage } = summaryView(given, shares, { mention: false, since: false, notices: [], safe })
    expect(coverage.left_out).toHaveLength(41)
    expect(coverage.left_out.at(-1)).toMatchObject({ path: "…", reason: expect.stringContaining("9960") })
    expect(coverage.read.split(", ")).toHaveLength(41)
    expect(rendered).toBeLessThan(100)
  })
})
