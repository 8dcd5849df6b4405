import { expect, it } from "vitest"
import { renderSarif } from "../../../src/cli/local/Sarif.ts"
import type { Analysis } from "../../../src/domain/Analysis.ts"
import type { Severity } from "../../../src/domain/Kinds.ts"
import packageJson from "../../../package.json" with { type: "json" }
import { analysis, finding } from "../../outputs/Fixtures.ts"

const renderRun = (given: Analysis) => {
  const range = { root: "/r", baseName: "main", from: "a", head: "b", headName: "b" }
  const log = JSON.parse(renderSarif({ vcs: "git", ...range, analysis: given }))
  return log.runs[0]
}
const render = (...severities: ReadonlyArray<Severity>) =>
  renderRun(analysis(severities.map((severity, index) => finding(index, { severity, category: "security" }))))

it("a run that lost reports is not successful, and warns of it", () => {
  const notices = [{ _tag: "ReportsUnreadable", count: 1, paths: [] } as const]
  const coverage = { reviewed: [], skipped: [], lines: 1 }
  const lost = { ...coverage, unusable: [{ reason: "report" as const, count: 1 }] }
  const [warning] = renderRun(analysis([], { notices, coverage: lost })).invocations
  expect(warning).toMatchObject({ executionSuccessful: false, toolExecutionNotifications: [{ level: "warning" }] })
  const [note] = renderRun(analysis([], { notices, coverage })).invocations
  expect(note).toMatchObject({ executionSuccessful: true, toolExecutionNotifications: [{ level: "note" }] })
})

it("a rule has the highest severity of its results, and each result its own", () => {
  const { results, tool } = render("low", "critical", "info")
  expect(tool.driver.rules).toMatchObject([
    { id: "security", defaultConfiguration: { level: "error" }, properties: { "security-severity": "9.5" } }
  ])
  expect(results.map((result: { readonly properties: object }) => result.properties)).toMatchObject([
    { severity: "low", "security-severity": "3.0" },
    { severity: "critical", "security-severity": "9.5" },
    { severity: "info", "security-severity": "1.0" }
  ])
})

it("the driver has the version of the program", () => {
  expect(render("low").tool.driver).toMatchObject({
    version: packageJson.version,
    semanticVersion: packageJson.version
  })
})
