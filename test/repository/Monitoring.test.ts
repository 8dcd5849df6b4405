/** The alert rules and the dashboard of deploy/monitoring use metrics that exist, and each alert is raised by its fault alone. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Schema } from "effect"
import { afterAll, expect, it } from "vitest"
import { provide } from "../harness/Provide.ts"

const root = join(import.meta.dirname, "../..")
const folder = join(root, "deploy/monitoring")
const read = (file: string): string => readFileSync(join(root, file), "utf8")

const promtool = (...words: ReadonlyArray<string>): string =>
  execFileSync(join(provide("promtool"), "promtool"), words, { cwd: folder, encoding: "utf8" })
const temporary = mkdtempSync(join(tmpdir(), "aicr-monitoring-"))
afterAll(() => rmSync(temporary, { recursive: true, force: true }))

const Dashboard = Schema.fromJsonString(
  Schema.Struct({
    panels: Schema.Array(
      Schema.Struct({
        title: Schema.String,
        targets: Schema.optional(Schema.Array(Schema.Struct({ expr: Schema.String })))
      })
    )
  })
)
const { panels } = Schema.decodeUnknownSync(Dashboard)(read("deploy/monitoring/grafana.json"))
const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))

/** The metrics that administration.md lists, which test/scenarios/Metrics.test.ts compares with those of a service. */
const documented = new Set([...read("docs/administration.md").matchAll(/`(aicr_\w+)`/g)].map(([, name]) => name))
const unknownMetrics = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/\b(aicr_[a-z_]+?)(?:_bucket)?\b(?=[{[\s)]|$)/g)].flatMap(([, name = ""]) =>
    documented.has(name) ? [] : [name]
  )

it("the rules are valid, a quiet service raises none, and each fault raises its own", () => {
  expect(promtool("check", "rules", "alerts.yml")).toContain("SUCCESS")
  expect(promtool("test", "rules", "alerts.test.yml")).toContain("SUCCESS")
})

it("rules and panels name metrics that the service has", () => {
  expect(documented.size).toBeGreaterThan(30)
  const rules = [...read("deploy/monitoring/alerts.yml").matchAll(/expr:([\s\S]*?)\n {8}(?:for|labels):/g)].map(
    ([, expr = ""]) => expr
  )
  expect(rules.length).toBeGreaterThan(9)
  expect([...rules, ...queries].flatMap(unknownMetrics)).toEqual([])
  expect(unknownMetrics("rate(aicr_nothing_total[5m])")).toEqual(["aicr_nothing_total"])
})

it("every query of the dashboard is valid", () => {
  expect(queries.length).toBeGreaterThan(20)
  const rules = queries.map((expr, at) => ({
    record: `panel:${at}`,
    expr: expr.replaceAll("$__rate_interval", "5m")
  }))
  const file = join(temporary, "panels.yml")
  // JSON is YAML.
  writeFileSync(file, JSON.stringify({ groups: [{ name: "panels", rules }] }))
  expect(promtool("check", "rules", file)).toContain("SUCCESS")
})

it("the document has a row for each alert, with its severity", () => {
  const alerts = [...read("deploy/monitoring/alerts.yml").matchAll(/alert: (\w+)[\s\S]*?severity: (\w+)/g)].map(
    ([, name, severity]) => `${name} ${severity}`
  )
  const rows = [...read("docs/monitoring.md").matchAll(/^\| `(\w+)` \| (\w+) \|/gm)].map(
    ([, name, severity]) => `${name} ${severity}`
  )
  expect(rows.toSorted()).toEqual(alerts.toSorted())
})
