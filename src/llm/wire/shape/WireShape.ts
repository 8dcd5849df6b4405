/**
 * Shapes of the requests that agents may send: allow lists of fields, kinds of parts, and values. A shape returns the value built from what it
 * names, so that nothing is sent that was not checked; `undefined` leaves a field or an item out. What it does not name is refused. Pure.
 */
import { isJson } from "../WireJson.ts"
import type { WireJson } from "../WireJson.ts"
import { RefusedField } from "./RefusedField.ts"

interface ShapeContext {
  /** Whether tools of the provider that search the web may be used. */
  readonly webSearch: boolean
  /** Names of removed tools. */
  readonly removed: Set<string>
}

export type WireShape = (value: unknown, context: ShapeContext) => unknown

const wrong = (expected: string): RefusedField => new RefusedField({ _tag: "WrongValue", expected })

const check =
  (accepts: (value: unknown) => boolean, expected: string): WireShape =>
  (value) =>
    accepts(value) ? value : wrong(expected)

export const text: WireShape = check((value) => typeof value === "string", "a text")
export const number: WireShape = check((value) => typeof value === "number" && Number.isFinite(value), "a number")
export const flag: WireShape = check((value) => typeof value === "boolean", "true or false")
/** Content of the agent and its tools, which no server interprets. */
export const anything: WireShape = (value) => value

export const allow = (...values: ReadonlyArray<string | number | boolean>): WireShape =>
  check((value) => values.some((one) => one === value), `one of ${values.join(", ")}`)

/** A field that agents send, and no provider gets. */
export const omitted: WireShape = () => undefined

/** Text in place of which a provider would also accept an address. */
export const data = (form: RegExp): WireShape => {
  return (value) => {
    if (typeof value !== "string") return wrong("a text")
    return form.test(value) ? value : new RefusedField({ _tag: "Reference" })
  }
}

export const orNull =
  (shape: WireShape): WireShape =>
  (value, context) =>
    value === null ? null : shape(value, context)

export const list =
  (item: WireShape): WireShape =>
  (value, context) => {
    if (!Array.isArray(value)) return wrong("a list")
    const items: Array<unknown> = []
    for (const [at, one] of value.entries()) {
      const accepted = item(one, context)
      if (accepted instanceof RefusedField) return accepted.within(at)
      if (accepted !== undefined) items.push(accepted)
    }
    return items
  }

export const textOr =
  (shape: WireShape): WireShape =>
  (value, context) =>
    typeof value === "string" ? value : shape(value, context)

interface ObjectRules {
  readonly required?: ReadonlyArray<string>
  /** Returns the spelling of the table for a name, where an API accepts several. */
  readonly spell?: (name: string) => string
}

export const object = (
  fields: Readonly<Record<string, WireShape>>,
  { required = [], spell = (name) => name }: ObjectRules = {}
): WireShape => {
  const shapes = new Map(Object.entries(fields))
  return (value, context) => {
    if (!isJson(value)) return wrong("an object")
    const accepted = new Map<string, unknown>()
    const seen = new Set<string>()
    for (const [given, field] of Object.entries(value)) {
      const name = spell(given)
      const shape = shapes.get(name)
      if (shape === undefined) return new RefusedField({ _tag: "UnknownField" }).within(given)
      if (seen.has(name)) return new RefusedField({ _tag: "RepeatedField" }).within(given)
      seen.add(name)
      const kept = shape(field, context)
      if (kept instanceof RefusedField) return kept.within(given)
      if (kept !== undefined) accepted.set(name, kept)
    }
    const missing = required.find((name) => !seen.has(name))
    if (missing !== undefined) return new RefusedField({ _tag: "MissingField" }).within(missing)
    return Object.fromEntries(accepted)
  }
}

/** Selects the shape by the text of a field. `absent` is the kind of an object without it. */
export const byField = (field: string, kinds: Readonly<Record<string, WireShape>>, absent?: string): WireShape => {
  const shapes = new Map(Object.entries(kinds))
  return (value, context) => {
    if (!isJson(value)) return wrong("an object")
    const kind = value[field] ?? absent
    if (kind === undefined) return new RefusedField({ _tag: "MissingField" }).within(field)
    if (typeof kind !== "string") return wrong("a text").within(field)
    return (shapes.get(kind) ?? (() => new RefusedField({ _tag: "UnknownKind", kind })))(value, context)
  }
}

/** Requires a permission of the configuration for web search. */
export const searching =
  (shape: WireShape): WireShape =>
  (value, context) =>
    context.webSearch ? shape(value, context) : new RefusedField({ _tag: "UnknownField" })

/** Removes a tool, with its name in the report: an agent works without it. */
export const removedTool = (name: string, context: ShapeContext): undefined => {
  context.removed.add(name.slice(0, 40))
}

/** Selects the shape of a tool by its `type`. Every other tool is one that a server executes, and is removed. */
export const tools = (
  kinds: Readonly<Record<string, WireShape>>,
  { absent, search }: { readonly absent?: string; readonly search?: Readonly<Record<string, WireShape>> } = {}
): WireShape => {
  const client = new Map(Object.entries(kinds))
  const searches = new Map(Object.entries(search ?? {}))
  return list((value, context) => {
    if (!isJson(value)) return wrong("an object")
    const type = value["type"] ?? absent
    if (typeof type !== "string") return wrong("a text").within("type")
    const shape = client.get(type) ?? (context.webSearch ? searches.get(type) : undefined)
    return shape === undefined ? removedTool(type, context) : shape(value, context)
  })
}

const references: ReadonlySet<string> = new Set(["$ref", "$dynamicRef", "$recursiveRef"])
const dialect = /^https?:\/\/json-schema\.org\//

const findReference = (value: unknown): RefusedField | undefined => {
  if (typeof value !== "object" || value === null) return undefined
  for (const [name, field] of Object.entries(value)) {
    const isRemote =
      typeof field === "string" &&
      (references.has(name) ? !field.startsWith("#") : name === "$schema" && !dialect.test(field))
    const found = isRemote ? new RefusedField({ _tag: "Reference" }) : findReference(field)
    if (found !== undefined) return found.within(Array.isArray(value) ? Number(name) : name)
  }
  return undefined
}

/** A JSON Schema. Servers that compile it may load what it refers to, so that it refers to itself only. */
export const schema: WireShape = (value) => (isJson(value) ? (findReference(value) ?? value) : wrong("an object"))

/** The request without its tools, if none is left, and without a choice of a tool that is none of them. */
export const withTools = (
  body: WireJson,
  {
    choice,
    chosen,
    names
  }: { readonly choice: string; readonly chosen: string | undefined; readonly names: ReadonlySet<string> }
): WireJson => {
  const hasTools = Array.isArray(body["tools"]) && body["tools"].length > 0
  const isOffered = chosen === undefined || names.has(chosen)
  if (hasTools && isOffered) return body
  return Object.fromEntries(Object.entries(body).filter(([name]) => name !== choice && (hasTools || name !== "tools")))
}
