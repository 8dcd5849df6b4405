import { expect, it } from "vitest"
import { renderSarif } from "../../../src/cli/local/Sarif.ts"
import type { Severity } from "../../../src/domain/Kinds.ts"
import packageJson from "../../../package.json" with { type: "json" }
import { analysis, finding } from "../../outputs/Fixtures.ts"

const render = (...severities: ReadonlyArray<Severity>) => {
  const findings = severities.map((severity, index) => finding(index, { severity, category: "security" }))
  const range = { root: "/r", baseName: "main", from: "a", head: "b", headName: "b" }
  const review = { vcs: "git" as const, ...range, analysis: analysis(findings) }
  const log = JSON.parse(renderSarif(review))
  return log.runs[0]
}

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
