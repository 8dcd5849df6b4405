/** SARIF of unknown origin: what is read of it, within which bounds, and which changed file a URI names. */
import { describe, expect, it } from "vitest"
import { pathOfUri, readSarif } from "../../src/review/Sarif.ts"
import { osvMessage, osvReport } from "./OsvReport.ts"

const result = (over: Record<string, unknown> = {}, region: Record<string, unknown> = { startLine: 3 }) => ({
  ruleId: "no-eval",
  message: { text: "Do not\nuse eval." },
  locations: [{ physicalLocation: { artifactLocation: { uri: "src/a.ts" }, region } }],
  ...over
})
const sarif = (results: unknown, name: unknown = "ESLint") =>
  JSON.stringify({ runs: [{ tool: { driver: { name } }, results }] })

describe("SARIF", () => {
  it("is read by tool, rule, message and lines", () => {
    expect(readSarif(sarif([result(), result({ ruleId: undefined }, { startLine: 5, endLine: 7 })]))).toEqual([
      { tool: "ESLint", rule: "no-eval", message: "Do not use eval.", uri: "src/a.ts", start: 3, end: 3 },
      { tool: "ESLint", rule: "", message: "Do not use eval.", uri: "src/a.ts", start: 5, end: 7 }
    ])
  })

  it("of osv-scanner is read: its results name a lock file and no line", () => {
    const one = { id: "CVE-2021-44906", aliases: ["GHSA-xvch-5gv4-984h"], dependency: "minimist@1.2.0" }
    const uris = ["file:///work/package-lock.json", "web/package-lock.json"]
    expect(readSarif(osvReport(uris.map((uri) => ({ ...one, uri }))))).toEqual(
      uris.map((uri) => ({ tool: "osv-scanner", rule: one.id, message: osvMessage({ ...one, uri }), uri }))
    )
    expect(readSarif(osvReport([]))).toEqual([])
  })

  it("is bounded, without signs that mean something in a comment", () => {
    const [one] =
      readSarif(sarif([result({ ruleId: "`@all` [x](http://evil)\n# y", message: { text: "x".repeat(999) } })])) ?? []
    expect(one?.rule).toBe("all xhttp//evil y")
    expect(one?.message).toHaveLength(300)
    expect(readSarif(sarif(Array.from({ length: 6000 }, () => result())))).toHaveLength(5000)
    expect(readSarif(sarif([result()], "n".repeat(500)))?.[0]?.tool).toHaveLength(60)
  })

  it.each([
    ["{", undefined],
    ["[]", undefined],
    ["{}", undefined],
    ['{"runs":{}}', undefined],
    ['{"runs":[null,1,{"results":{}}]}', []],
    ['{"runs":[{"tool":{"__proto__":{"driver":{"name":"x"}}},"results":[{}]}]}', []],
    [sarif([null, 1, {}, result({ locations: [] }), result({ locations: "x" })]), []],
    [sarif([result({}, { startLine: 0 }), result({}, { startLine: 1.5 }), result({}, { startLine: "3" })]), []],
    [sarif([result()], ""), []],
    [`${"[".repeat(200_000)}`, undefined]
  ])("%.60s", (text, expected) => expect(readSarif(text)).toEqual(expected))
})

it.each([
  ["src/a.ts", "src/a.ts"],
  ["./src/a.ts", "src/a.ts"],
  ["file:///home/ci/work/src/a.ts", "src/a.ts"],
  ["/a.ts", "a.ts"],
  ["src/%C3%BC.ts", "src/ü.ts"],
  ["other/src/a.ts", undefined],
  ["src/%ZZ.ts", undefined],
  ["/none.ts", undefined],
  ["", undefined]
])("the URI %j names %j", (uri, path) => {
  expect(pathOfUri(uri, new Set(["src/a.ts", "a.ts", "src/ü.ts"]))).toBe(path)
})
