/** Every row of the field tables, and additional fields of the service: accepted, defaulted, limited, described. */
import { Redacted } from "effect"
import { describe, expect, it } from "vitest"
import { findExample } from "../../src/config/fields/Examples.ts"
import { describeField } from "../../src/config/fields/Field.ts"
import { Document } from "../../src/config/Document.ts"
import type { Path } from "../../src/config/document/Path.ts"
import { formatPath, isRecord, valueAt } from "../../src/config/document/Path.ts"
import { listRows } from "../../src/config/Reference.ts"
import type { FieldShape, Shape } from "../../src/config/fields/Shape.ts"
import { readShape } from "../../src/config/fields/Shape.ts"
import { readDocument } from "../../src/config/snapshots/Snapshots.ts"
import { keyAliases } from "../../src/domain/Vocabulary.ts"
import { beyond } from "./Beyond.ts"
import { toPlace, withValue } from "./Places.ts"
import { listSamples } from "./Samples.ts"
import { specification } from "./Specification.ts"

const env = { SET: "postgres://store.example/db", set_2: "value" }

const read = (document: unknown) => {
  const { snapshot, issues } = readDocument(document, env, { baseDir: "/base", unset: "warnings" })
  return { snapshot, errors: issues.filter(({ severity }) => severity === "error") }
}

const canonicalPath = (path: Path): Path =>
  path.map((segment) => (typeof segment === "string" ? (keyAliases[segment] ?? segment) : segment))

/** Returns the field that a path ends at, or undefined if it ends at entries of a list or map. */
const fieldAt = (path: Path): FieldShape | undefined => {
  let shape: Shape | undefined = readShape(Document)
  let field: FieldShape | undefined
  for (const segment of path) {
    if (shape?.type === "union") shape = shape.members.find((member) => member.type === "object")
    if (shape?.type === "list") {
      shape = shape.item
      field = undefined
      if (typeof segment === "number") continue
    }
    if (shape?.type !== "object") return undefined
    field = shape.fields.get(shape.keys.get(String(segment)) ?? "")
    shape = field?.shape ?? shape.rest
  }
  return field
}

/** Returns the effective value if the document does not set the field. */
const inForce = (document: unknown, place: Path): unknown => {
  const { snapshot, errors } = read(withValue(document, place, undefined))
  expect(errors).toEqual([])
  const path = canonicalPath(place)
  const workspace = snapshot?.workspaces.get("w")
  if (path[0] === "workspaces" && path[1] === "defaults" && path[2] === "context_repositories")
    return valueAt(workspace?.contextRepositories, path.slice(3))
  if (path[0] === "workspaces" && path[1] === "defaults") return valueAt(workspace, path.slice(2))
  return valueAt(snapshot?.document, path)
}

const spelledDefault = (text: string): unknown => {
  if (text === "{catalog_url}") return "https://models.dev/api.json"
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Defaults that are rules, checked by the tests of resolution; here they must be part of the reference. */
const rules = new Set([
  "inherit",
  "derived",
  "legacy form",
  "config base dir",
  "remote default branch",
  "latest",
  "<baseDir>/workspaces",
  "{{workspace.id}}"
])

/** Defaults at run time where the tables have none. */
const decided = {
  ".ignore_case": false,
  ".review_update_strategy": "update_existing",
  "llm.retry.max_attempts": 3,
  "llm.retry.respect_retry_after": true,
  "llm.retry.backoff.kind": "exponential",
  "llm.retry.backoff.base_ms": 1_000,
  "llm.retry.backoff.max_ms": 30_000,
  "llm.retry.backoff.jitter": true,
  "agent.web_search.timeout_seconds": 30,
  "review.fetch_extra.max_bytes": 262_144,
  "review.fetch_extra.max_files": 200,
  "review.reflection.memory.max_size_kb": 256,
  "review.reflection.memory.max_entries": 500,
  "storage.cache.ttl_seconds": 3_600,
  "outputs.channels[].mention_author": false,
  "outputs.channels[].mention_fallback": "skip",
  "outputs.channels[].issue_mode": "per_problem",
  "outputs.channels[].resolved_action": "close",
  "outputs.channels[].add_owners_as_assignees": false,
  "outputs.channels[].review_mode": "auto",
  "outputs.channels[].review_event": "COMMENT"
}

/** Returns whether the value was read unchanged, except for names in another spelling. */
const keeps = (found: unknown, written: unknown): boolean => {
  if (Redacted.isRedacted(found)) return Redacted.value(found) === written
  return typeof written === "object" || typeof written === "string" || typeof found === "object"
    ? found !== undefined
    : found === written
}

const isUnder = (error: string, place: string): boolean =>
  error === place || error.startsWith(`${place}.`) || error.startsWith(`${place}[`)

const cases = [...specification, ...beyond].map(([path, type, byDefault, meaning]) => {
  const { around, path: place } = toPlace(path)
  return { path, byDefault, around, place, field: fieldAt(place), ...listSamples(path, type, meaning) }
})
type Case = (typeof cases)[number]
const named = (some: ReadonlyArray<Case>): ReadonlyArray<readonly [string, string, Case]> =>
  some.map((one) => [one.path, one.byDefault, one])
const withSample = (side: "takes" | "refuses"): ReadonlyArray<readonly [string, string, unknown, Case]> =>
  cases.flatMap((one) => one[side].map((value) => [one.path, JSON.stringify(value), value, one] as const))
const isPlain = ({ path, byDefault }: Case): boolean =>
  byDefault !== "—" && !path.endsWith("<id>") && !rules.has(byDefault) && !byDefault.endsWith("(runtime)")

describe("each row", () => {
  it.each(named(cases.filter(({ path }) => !/<id>(\[\])?$/.test(path))))("%s is described", (_, __, { field }) => {
    expect(field === undefined ? 0 : describeField(field.meta).length).toBeGreaterThan(4)
  })

  it.each(withSample("takes"))("%s takes %s", (_, __, value, { around, place }) => {
    const { snapshot, errors } = read(withValue(around, place, value))
    expect(errors).toEqual([])
    expect(keeps(valueAt(snapshot?.given, canonicalPath(place)), value)).toBe(true)
  })

  it.each(withSample("refuses"))("%s refuses %s", (_, __, value, { around, place }) => {
    const { snapshot, errors } = read(withValue(around, place, value))
    expect(snapshot).toBeUndefined()
    expect(errors.map((error) => error.path).filter((error) => isUnder(error, formatPath(place)))).not.toEqual([])
  })

  it("declares which entities it names, so that a rename follows it, if a name that does not exist is refused", () => {
    const unknown = "no-such-name"
    const undeclared = cases.filter(({ around, field, place }) => {
      const issues = [unknown, [unknown], { [unknown]: {} }].flatMap((value) => {
        const document = withValue(around, place, value)
        return readDocument(document, env, { baseDir: "/base", unset: "warnings" }).issues
      })
      const isName = issues.some(
        ({ path, reason }) => reason._tag === "NameUnknown" && isUnder(path, formatPath(place))
      )
      return isName && field?.meta.refers === undefined
    })
    expect(undeclared.map(({ path }) => path)).toEqual([])
  })

  it.each(named(cases.filter(isPlain)))("%s is %s by default", (path, byDefault, { around, place, field }) => {
    const list = path === "outputs.channels[]" || path === "llm.providers[]"
    const value = list ? valueAt(read({}).snapshot?.document, place) : inForce(around, place)
    const words = spelledDefault(byDefault)
    const name = field?.shape.type === "enum" ? field.shape.spellings.get(String(words)) : words
    expect(isRecord(words) ? isRecord(value) : value).toEqual(isRecord(words) ? true : name)
  })

  it.each(named(cases.filter((one) => !isPlain(one))))(
    "%s has %s in place of a default",
    (path, byDefault, { field }) => {
      const { meta } = field ?? {}
      const runtime = byDefault.endsWith(" (runtime)")
        ? spelledDefault(byDefault.replace(" (runtime)", ""))
        : Object.entries(decided).find(([end]) => path.endsWith(end))?.[1]
      expect(meta?.runtimeDefault).toEqual(runtime)
      expect(meta?.defaultText !== undefined || !rules.has(byDefault)).toBe(true)
      expect(meta?.default === undefined || typeof meta.default === "object").toBe(true)
    }
  )
})

describe("the example in the reference", () => {
  /** Names that an example uses and the document around a field does not declare. */
  const ofOthers = new Set(["NameUnknown", "ModelGroupUnknown"])
  const examples = cases.flatMap((one) => {
    const example = one.field === undefined || one.path.endsWith("<id>") ? undefined : findExample(one.field)
    return example === undefined ? [] : [[one.path, JSON.stringify(example), example, one] as const]
  })

  it.each(examples)(
    "of %s, %s, is a value of the field, and not its default",
    (_, __, example, { around, field, place }) => {
      const { issues } = readDocument(withValue(around, place, example), env, { baseDir: "/base", unset: "warnings" })
      const refused = issues.filter(({ path, severity }) => severity === "error" && isUnder(path, formatPath(place)))
      expect(refused.filter(({ reason }) => !ofOthers.has(reason._tag))).toEqual([])
      expect(example).not.toEqual(field?.meta.default ?? field?.meta.runtimeDefault)
    }
  )

  it("is there for every field, except for credentials and for what has fields of its own", () => {
    const without = cases.filter(({ field }) => field !== undefined && findExample(field) === undefined)
    const needed = without.filter(({ field }) => isValue(field?.shape))
    expect(needed.map(({ path }) => path)).toEqual([])
  })
})

/** Returns whether a value of the shape is written in one line and is no secret. */
const isValue = (shape: Shape | undefined): boolean => {
  switch (shape?.type) {
    case "enum":
      return shape.values.length > 1
    case "scalar":
      return shape.scalar !== "secret" && shape.scalar !== "any"
    case "list":
      return isValue(shape.item)
    default:
      return false
  }
}

describe("the tables and the schema", () => {
  const root = readShape(Document)
  const schema =
    root.type === "object" ? [...root.fields.values()].flatMap(({ name, shape }) => listRows(name, shape)) : []
  const known = new Set(
    [...specification, ...beyond].map(([path]) =>
      path
        .split(".")
        .map((part) => keyAliases[part] ?? part)
        .join(".")
        .replace(/\[\]$/, "")
    )
  )

  it("name the same fields", () => {
    const plain = (path: string): string =>
      path
        .replace(/(match\[\]\.source|exclude_sources\[\]\.match)\.[a-z_]+/, "$1.<id>")
        .replace(
          /^workspaces\.instances\.<id>\.(context_repositories|prompt|triage|sandbox)(\[\])?\./,
          "workspaces.defaults.$1$2."
        )
    const groups = new Set(
      schema.flatMap(({ path }) => {
        const parts = path.split(".")
        return parts.map((_, index) => plain(parts.slice(0, index).join(".")).replace(/(\[\])+$/, ""))
      })
    )
    const layers = /^workspaces\.defaults\.(sandbox\.|[a-z_]+$)/
    const missing = schema
      .map(({ path }) => plain(path))
      .filter(
        (path) =>
          !known.has(path) &&
          !known.has(`${path}.<id>`) &&
          !groups.has(path) &&
          !layers.test(path) &&
          !path.endsWith(".<id>")
      )
    expect(missing).toEqual([])
  })
})

describe("blocks of the workspace layers", () => {
  const rows = specification.filter(
    ([path]) =>
      /^(agent|review|outputs)\b/.test(path) && path !== "agent.sandbox.kind" && path !== "agent.web_search.credentials"
  )
  it.each(rows)(
    "%s is a field of defaults and instances too, without a default of its own",
    (path, type, _, meaning) => {
      const { around, path: place } = toPlace(path)
      const [value] = listSamples(path, type, meaning).takes
      if (value === undefined) return
      const whole = withValue(around, place, value)
      const [name = ""] = place
      const block = valueAt(whole, [name])
      for (const layer of [
        ["workspaces", "defaults"],
        ["workspaces", "instances", "w"]
      ]) {
        const { snapshot, errors } = read(withValue(withValue(whole, [name], undefined), [...layer, name], block))
        expect(errors).toEqual([])
        const given = valueAt(snapshot?.given, [...layer, name])
        expect(Object.keys(given ?? {}).toSorted()).toEqual(Object.keys(block ?? {}).toSorted())
      }
    }
  )
})
