/** Forms of reports that are taken as meant, and those that are not. */
import { describe, expect, it } from "vitest"
import * as fc from "fast-check"
import { readReports } from "../../../src/agent/tools/ReportForms.ts"
import { decodeToolCall, mayReport } from "../../../src/agent/tools/Tools.ts"

const exact = {
  file: "src/a.ts",
  line: 20,
  severity: "high",
  category: "correctness",
  message: "It fails.",
  quote: "two"
} as const

const without = (...names: ReadonlyArray<string>) =>
  Object.fromEntries(Object.entries(exact).filter(([name]) => !names.includes(name)))

/** The problem of the only report. */
const read = (input: unknown) => {
  const [report, ...more] = readReports(input).reports
  expect(more).toEqual([])
  return report?.ok === true ? report.problem : report
}

describe("a report is taken as meant", () => {
  it.each<readonly [name: string, sent: Record<string, unknown>, meant: Record<string, unknown>]>([
    ["exactly", {}, {}],
    ["a line as text", { line: "20" }, {}],
    ["a line with a decimal", { line: "20.0" }, {}],
    ["a line with its letter", { line: "L20" }, {}],
    ["a range", { line: "20-21" }, { end_line: 21 }],
    ["a range with dashes of print", { line: "20 – 21" }, { end_line: 21 }],
    ["a range as a list", { line: [20, 21] }, { end_line: 21 }],
    ["a range of words", { line: "lines 20 to 21" }, { end_line: 21 }],
    ["an end as text", { end_line: "22" }, { end_line: 22 }],
    ["an end before the line", { end_line: 3 }, {}],
    ["no line", { line: "somewhere" }, { line: undefined }],
    ["a line of zero", { line: 0 }, { line: undefined }],
    ["the side of a diff view", { side: "RIGHT" }, { side: "new" }],
    ["the other side", { side: " Left " }, { side: "old" }],
    ["an unknown side", { side: "both" }, {}],
    ["another case", { severity: "CRITICAL " }, { severity: "critical" }],
    ["a synonym", { severity: "Blocker" }, { severity: "critical" }],
    ["a severity between words", { severity: "🔴 High severity" }, {}],
    ["two severities", { severity: "medium-high" }, {}],
    ["a severity in Chinese", { severity: "严重" }, { severity: "critical" }],
    ["a level", { severity: undefined, level: "warning" }, { severity: "medium" }],
    ["a percentage", { confidence: 95 }, { confidence: 0.95 }],
    ["a percentage as text", { confidence: "95%" }, { confidence: 0.95 }],
    ["a confidence in words", { confidence: "High" }, { confidence: 0.9 }],
    ["a confidence of an unknown scale", { confidence: 8 }, {}],
    ["null for absent fields", { end_line: null, side: null, title: null }, {}],
    ["a list of texts", { message: ["It fails.", "Always."] }, { message: "It fails.\n\nAlways." }],
    ["a list of lines", { quote: ["two", "three"] }, { quote: "two\nthree" }],
    ["the title in place of the message", { message: "", title: "It fails." }, { title: "It fails." }],
    ["a description", { message: undefined, description: "It fails." }, {}],
    ["no category", { category: undefined }, { category: "general" }],
    ["a suggestion in a fence", { suggestion: "```ts\n  two()\n```" }, { suggestion: "  two()" }],
    ["other spellings of names", { line: undefined, startLine: 20, endLine: 21 }, { end_line: 21 }]
  ])("%s", (_, sent, meant) => {
    const expected = Object.entries({ ...exact, ...meant }).filter(([, value]) => value !== undefined)
    expect(read({ ...exact, ...sent })).toEqual(Object.fromEntries(expected))
  })

  it.each<readonly [string, unknown]>([
    ["a list", { problems: [exact] }],
    ["JSON text", { problems: JSON.stringify([exact]) }],
    ["JSON text in a fence", { problems: `\`\`\`json\n${JSON.stringify([exact])}\n\`\`\`` }],
    ["one object", { problems: exact }],
    ["texts of objects", { problems: [JSON.stringify(exact)] }],
    ["a list alone", [exact]],
    ["another name of the list", { findings: [exact] }],
    ["the name of one", { problem: exact }],
    ["text of it all", JSON.stringify({ problems: [exact] })]
  ])("in %s", (_, sent) => {
    expect(read(sent)).toEqual(exact)
  })

  it("with a message that is too long, cut with a mark", () => {
    const problem = read({ ...exact, message: "again and ".repeat(900) })
    expect(problem).toMatchObject({ message: expect.stringMatching(/^again and .*… \[cut: 9000 characters\]$/) })
    expect(problem).toMatchObject({ message: expect.toSatisfy((text: string) => text.length <= 4_000) })
  })

  it("without a suggestion that is too long, as its message explains", () => {
    const problem = read({ ...exact, suggestion: "x\n".repeat(15_000) })
    expect(problem).toEqual({
      ...exact,
      message: "It fails.\n\n[The suggested code is omitted: it has 30000 characters.]"
    })
  })

  it("as none, if the list is empty", () => {
    for (const sent of [{ problems: [] }, { problems: null }, []]) expect(readReports(sent).reports).toEqual([])
  })
})

describe("a report is refused", () => {
  it.each<readonly [string, unknown, Record<string, unknown>]>([
    ["an unknown severity", { ...exact, severity: "awful" }, { line: 20, message: "It fails." }],
    ["a severity that is denied", { ...exact, severity: "not critical" }, { quote: "two" }],
    ["no severity", without("severity"), { file: "src/a.ts" }],
    ["no file", without("file"), { quote: "two" }],
    ["neither message nor title", without("message"), { quote: "two" }],
    ["prose", "The bug is in line 3.", { message: "The bug is in line 3." }],
    [
      "JSON that is cut",
      '{"file": "src/a.ts", "line": 20, "message": "It fa',
      { file: "src/a.ts", line: 20, message: "It fa" }
    ],
    ["nothing", {}, {}],
    ["a number", 7, {}]
  ])("with %s, and what could be read of it is kept", (_, sent, kept) => {
    expect(read(sent)).toMatchObject({ ok: false, sketch: kept })
  })

  it("each by itself, out of text with several", () => {
    const { reports } = readReports({ problems: '[{"message": "one"}, {"message": "two"}, {"mess' })
    expect(reports.map((one) => !one.ok && one.sketch)).toEqual([
      { message: "one" },
      { message: "two" },
      expect.anything()
    ])
  })
})

describe("an unknown tool", () => {
  it("with the input of a report is one", () => {
    expect(decodeToolCall("report_bug", exact).ok).toBe(true)
    expect(decodeToolCall("submit_review", { comments: [exact] }).ok).toBe(true)
  })

  it.each(["post_comment", "add_issue", "reportFinding", "submit_review", "open_issue", "x"])(
    "%s may be a report",
    (name) => {
      expect(mayReport(name)).toBe(true)
      expect(decodeToolCall(name, { text: "a bug" })).toMatchObject({ ok: false, reports: [{ message: "a bug" }] })
    }
  )

  it.each(["read_file", "bash", "Grep", "listDirectory", "web_search", "todo_write", "finish"])(
    "%s is none",
    (name) => {
      expect(decodeToolCall(name, { text: "a bug" })).not.toHaveProperty("reports")
    }
  )
})

describe("any input", () => {
  it("is read within a time that grows with its length", () => {
    fc.assert(
      fc.property(fc.anything({ maxDepth: 3 }), (input) => {
        for (const report of readReports(input).reports) expect(report).toHaveProperty("ok")
      })
    )
    for (const text of [
      "`".repeat(200_000),
      `{"a":${" ".repeat(200_000)}`,
      "}, {".repeat(50_000),
      '"\\'.repeat(100_000)
    ]) {
      const before = performance.now()
      readReports({ problems: text })
      readReports({ ...exact, line: text, severity: text, confidence: text, suggestion: text })
      expect(performance.now() - before).toBeLessThan(1_000)
    }
  })
})
