import { describe, expect, it } from "vitest"
import { gfm } from "../../src/outputs/SafeText.ts"
import { summaryView } from "../../src/outputs/View.ts"
import { analysis, input } from "./Fixtures.ts"

describe("the coverage of a large change", () => {
  const paths = Array.from({ length: 10_000 }, (_, at) => `src/file${at}.ts`)
  const skipped = paths.map((path) => ({ path, reason: "max_files" as const }))
  const given = input([], { analysis: analysis([], { coverage: { reviewed: paths, skipped, lines: 1 } }) })

  it("renders only the listed paths", () => {
    let rendered = 0
    const safe = { ...gfm, codeSpan: (text: string) => (rendered++, gfm.codeSpan(text)) }
    const shares = { visible: [], inline: [], hidden: 0 }
    const { coverage } = summaryView(given, shares, { mention: false, since: false, notices: [], safe })
    expect(coverage.left_out).toHaveLength(41)
    expect(coverage.left_out.at(-1)).toMatchObject({ path: "…", reason: expect.stringContaining("9960") })
    expect(coverage.read.split(", ")).toHaveLength(41)
    expect(rendered).toBeLessThan(100)
  })
})
