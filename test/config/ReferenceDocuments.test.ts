/** Files generated from the schema files are up to date, and every example is valid. */
import { Ajv2020 } from "ajv/dist/2020.js"
import addFormats from "ajv-formats"
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { describe, expect, it } from "vitest"
import { parse } from "yaml"
import { jsonSchema } from "../../src/config/JsonSchema.ts"
import { readText } from "../../src/config/LoadConfig.ts"
import { reference } from "../../src/config/Reference.ts"
import { beyond } from "./Beyond.ts"
import { toPlace, withValue } from "./Places.ts"
import { listSamples } from "./Samples.ts"
import { specification } from "./Specification.ts"
import { inEnglish } from "../../src/text/en.ts"

const root = join(import.meta.dirname, "../..")
const examples = [
  "config.example.yaml",
  ...readdirSync(join(root, "examples"))
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => join("examples", name))
]

it("docs/configuration.md is the reference; regenerate it with `aicr config schema --markdown`", () => {
  expect(readFileSync(join(root, "docs/configuration.md"), "utf8")).toBe(`${reference().trimEnd()}\n`)
})

it("docs/config.schema.json is the JSON Schema; regenerate it with `aicr config schema`", () => {
  expect(JSON.parse(readFileSync(join(root, "docs/config.schema.json"), "utf8"))).toEqual(jsonSchema())
})

it("there is an example per situation", () => {
  expect(examples.toSorted()).toEqual([
    "config.example.yaml",
    "examples/agent.yaml",
    "examples/cluster.yaml",
    "examples/github-app.yaml",
    "examples/gitlab.yaml",
    "examples/perforce.yaml"
  ])
})

describe.each(examples)("%s", (name) => {
  const text = readFileSync(join(root, name), "utf8")
  const variables = [...text.matchAll(/_env: (\w+)/g)].map((found) => found[1] ?? "")
  const env = Object.fromEntries([...variables, "SVC_NATS_URL"].map((variable) => [variable, "https://value.example"]))

  it("is valid without a warning once its variables are set, but for a depot's fields, which wait for their reader", () => {
    const { snapshot, issues } = readText(text, env, { file: name })
    const waiting =
      name === "examples/perforce.yaml"
        ? issues.filter(({ reason }) => inEnglish(reason).startsWith("without effect"))
        : []
    expect(issues.filter((issue) => !waiting.includes(issue))).toEqual([])
    expect(snapshot?.workspaces.size).toBeGreaterThan(0)
  })
  it("names every variable in its heading", () => {
    const heading = text.slice(0, text.search(/^[a-z_]+:$/m))
    for (const variable of variables) expect(heading).toContain(variable)
  })
  it("names the JSON Schema in its first line, so that editors complete and check it", () => {
    const [, path = ""] = /^# yaml-language-server: \$schema=(.+)\n/.exec(text) ?? []
    expect(join(dirname(name), path)).toBe("docs/config.schema.json")
  })
  it("fits the JSON Schema", () => {
    expect([validate(parse(text)), validate.errors]).toEqual([true, null])
  })
})

const ajv = new Ajv2020({
  strict: true,
  strictTypes: false,
  strictRequired: false,
  allErrors: true,
  allowUnionTypes: true
})
addFormats.default(ajv)
const validate = ajv.compile(jsonSchema())

describe("the JSON Schema", () => {
  const rows = [...specification, ...beyond]
  it("takes every value that the loader takes", () => {
    for (const [path, type, , meaning] of rows) {
      const { around, path: place } = toPlace(path)
      for (const value of listSamples(path, type, meaning).takes) {
        const document = withValue(around, place, value)
        expect(validate(document), `${path} = ${JSON.stringify(value)}: ${ajv.errorsText(validate.errors)}`).toBe(true)
      }
    }
  })
  it("refuses most of what the loader refuses; the rest are rules that need the whole document or a format", () => {
    const refused = rows.flatMap(([path, type, , meaning]) => {
      const { around, path: place } = toPlace(path)
      return listSamples(path, type, meaning).refuses.map((value) => validate(withValue(around, place, value)))
    })
    const missed = refused.filter((valid) => valid).length
    expect(missed / refused.length).toBeLessThan(0.08)
  })
  it.each([
    ["an unknown key", { serve: {} }],
    ["a name twice", { queue: { sqlite: {}, embedded_sql: {} } }],
    ["an exclusive pair", { triggers: [{ name: "t", kind: "github", token: "a", token_env: "B" }] }],
    ["a field of another kind", { triggers: [{ name: "t", kind: "manual", depot_path: "//a" }] }],
    ["a missing name", { triggers: [{ kind: "manual" }] }],
    ["a reserved id", { workspaces: { instances: { cache: {} } } }]
  ])("refuses %s", (_, document) => {
    expect(validate(document)).toBe(false)
  })
})
