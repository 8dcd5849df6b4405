/**
 * A record is declared once: its type, its row and its form in responses come from one declaration. Two declarations with the same names of
 * fields, in camel case or in snake case, are one too many. No two exported types have one name.
 */
import { globSync, readFileSync } from "node:fs"
import { parseAst } from "rolldown/parseAst"
import { describe, expect, it } from "vitest"
import { snakeCase } from "../../src/domain/Record.ts"

interface Node {
  readonly type: string
  readonly [field: string]: unknown
}

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && "type" in value

const listOf = (value: unknown): ReadonlyArray<Node> => (Array.isArray(value) ? value.filter(isNode) : [])

const field = (node: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce((found, name) => (isNode(found) ? found[name] : undefined), node)

/** Fewer names may be the same by chance. */
const minFields = 4

/** Calls whose object declares a record. The object of `shown` only describes fields. */
const declaring = new Set(["Struct", "TaggedStruct", "TaggedError"])

const propertyNames = (members: unknown, type: string): ReadonlyArray<string> =>
  listOf(members).flatMap((member) => {
    const name = field(member, "key", "name") ?? field(member, "key", "value")
    return member.type === type && typeof name === "string" ? [snakeCase(name)] : []
  })

/** Returns the names of the fields that a node declares. `record` is that of src/domain/Record.ts in files that import it. */
const declaredFields = (node: Node, hasRecords: boolean): ReadonlyArray<string> => {
  if (node.type === "TSInterfaceBody") return propertyNames(node["body"], "TSPropertySignature")
  if (node.type === "TSTypeLiteral") return propertyNames(node["members"], "TSPropertySignature")
  if (node.type !== "CallExpression") return []
  const callee = field(node, "callee", "property", "name") ?? field(node, "callee", "name")
  const object = listOf(node["arguments"]).find(({ type }) => type === "ObjectExpression")
  const isDeclaration =
    (typeof callee === "string" && (declaring.has(callee) || (hasRecords && callee === "record"))) ||
    isGenericCall(node)
  return isDeclaration && object !== undefined ? propertyNames(object["properties"], "Property") : []
}

/** `Schema.TaggedError<Self>()("Tag", { … })`. */
const isGenericCall = (node: Node): boolean => field(node, "callee", "callee", "property", "name") === "TaggedError"

interface Declaration {
  readonly place: string
  readonly fields: string
}

const listDeclarations = (code: string, place: string): ReadonlyArray<Declaration> => {
  const found: Array<Declaration> = []
  const hasRecords = code.includes('/Record.ts"')
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(walk)
    if (!isNode(value)) return
    const names = [...new Set(declaredFields(value, hasRecords))].toSorted()
    if (names.length >= minFields) found.push({ place, fields: names.join(" ") })
    Object.values(value).forEach(walk)
  }
  walk(parseAst(code, { lang: "ts" }))
  return found
}

const findRepeated = (all: ReadonlyArray<Declaration>): ReadonlyArray<string> =>
  [...Map.groupBy(all, ({ fields }) => fields)].flatMap(([fields, found]) =>
    found.length < 2 ? [] : [`${found.map(({ place }) => place).join(", ")}: ${fields}`]
  )

/**
 * Folders whose records others define: each host its responses, and the document of the configuration its fields, which have a path, a
 * default and a description each.
 */
const isDefinedElsewhere = (file: string): boolean => /^src\/(forge|config\/schema)\//.test(file)

/** Records that only share their names: the values have other types. */
const different = new Set(["src/engine/record/ReadLog.ts", "src/engine/record/ReviewRecord.ts"])

const files = globSync(["src/**/*.ts", "actors/**/*.ts", "nats/**/*.ts"])

describe("records", () => {
  it("are declared once", () => {
    const all = files
      .filter((file) => !isDefinedElsewhere(file) && !different.has(file))
      .flatMap((file) => listDeclarations(readFileSync(file, "utf8"), file))
    expect(findRepeated(all)).toEqual([])
    expect(all.length).toBeGreaterThan(400)
  })

  it.each([
    ["interface A { entryId: string; at: number; why: string; c: 1 }", 1],
    ["const row = Schema.Struct({ entry_id: text, at: time, why: text, c: one })", 1],
    [
      'import { record } from "../../src/domain/Record.ts"; const a = record({ entryId: text, at: time, why: text, c: one })',
      1
    ],
    ["log(record({ entryId: 1, at: 2, why: 3, c: 4 }))", 0],
    ['class E extends Schema.TaggedError<E>()("E", { entryId: text, at: time, why: text, c: one }) {}', 1],
    ["const a = shown(Run, { entryId: text, at: time, why: text, c: one })", 0],
    ["interface A { entryId: string; at: number; why: string }", 0]
  ])("%s", (code, count) => {
    const known = { place: "A.ts", fields: "at c entry_id why" }
    expect(findRepeated([known, ...listDeclarations(code, "B.ts")])).toHaveLength(count)
  })
})

it("no two exported types have one name", () => {
  const names = files.flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/^export (?:type|interface|class) (\w+)/gm)].map(([, name = ""]) => ({
      name,
      file
    }))
  )
  const repeated = [...Map.groupBy(names, ({ name }) => name)].filter(([, found]) => found.length > 1)
  expect(repeated.map(([name, found]) => `${name}: ${found.map(({ file }) => file).join(", ")}`)).toEqual([])
})

/** The compiler imports these by their names. */
const compiled = "src/dashboard/parts/JsxRuntime.ts"

it("every exported name is in another file", () => {
  const readers = globSync(["{src,actors,nats,test,demo,eval,scripts}/**/*.{ts,tsx,js,mjs}", "*.ts"])
  const words = readers.map((file) => ({
    file,
    names: new Set(readFileSync(file, "utf8").match(/[A-Za-z_]\w*/g))
  }))
  const counts = new Map<string, number>()
  for (const { names } of words) for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  const unused = words
    .filter(({ file }) => /^(?:src|actors|nats)\//.test(file) && file !== compiled)
    .flatMap(({ file }) =>
      [...readFileSync(file, "utf8").matchAll(/^export (?:const|class|interface|type) (\w+)/gm)].flatMap(
        ([, name = ""]) => ((counts.get(name) ?? 0) < 2 ? [`${file} ${name}`] : [])
      )
    )
  expect(unused).toEqual([])
})
