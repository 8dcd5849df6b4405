/** Makes replies of the administration from its own definition: whatever the definition permits, a page has to show. The same seed makes the same reply. */
import { OpenApi } from "effect/http-api"
import { makeChance } from "../../eval/Chance.ts"
import { AdminHttpApi, adminPath } from "../../src/admin/api/AdminHttpApi.ts"
import type { Replies } from "./RenderPage.ts"

interface JsonSchema {
  readonly $ref?: string
  readonly type?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly const?: unknown
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly allOf?: ReadonlyArray<JsonSchema>
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: ReadonlyArray<string>
  readonly additionalProperties?: JsonSchema | boolean
  readonly description?: string
}

export interface Kind {
  readonly seed: number
  /** Share of the optional fields that are present. */
  readonly optional: number
  /** Maximum number of items of a list. */
  readonly items: number
  /** Text of a field without a form. */
  readonly text: (random: () => number) => string
}

const pick = <A>(values: ReadonlyArray<A>, random: () => number): A | undefined =>
  values[Math.floor(random() * values.length)]

/** Reasons of several forms: with and without parameters, nested, and of a newer node. */
const reasons = (text: string): ReadonlyArray<unknown> => [
  { _tag: "Text", text },
  { _tag: "FoundBySearch", occasion: "start" },
  { _tag: "AwaitsModel" },
  { _tag: "OfANewerNode", text }
]

/** Returns false for the names of values that JSON has no number for, which the service sends in no reply. */
const isNumberOrMore = (schema: JsonSchema): boolean => schema.enum?.includes("NaN") !== true

const numbers = [0, 1, 7, 999, 1_234_567]
const startedAt = Date.UTC(2026, 0, 1)

const makeValue = (
  root: Readonly<Record<string, JsonSchema>>,
  kind: Kind,
  random: () => number
): ((schema: JsonSchema, depth: number) => unknown) => {
  const makeObject = (schema: JsonSchema, depth: number): unknown => {
    const { additionalProperties: more, properties = {}, required = [] } = schema
    const entries = Object.entries(properties)
      .filter(([name]) => required.includes(name) || random() < kind.optional)
      .map(([name, one]) => [name, make(one, depth + 1)] as const)
    const extra =
      typeof more === "object" && kind.items > 0 ? [[kind.text(random), make(more, depth + 1)] as const] : []
    return Object.fromEntries([...entries, ...extra])
  }
  const make = (schema: JsonSchema, depth: number): unknown => {
    const name = schema.$ref?.split("/").at(-1)
    if (name === "ReasonEncoded") return pick(reasons(kind.text(random)), random)
    if (name !== undefined) return make(root[name] ?? {}, depth)
    if (schema.const !== undefined) return schema.const
    if (schema.enum !== undefined) return pick(schema.enum, random)
    // A description of a field is a part of its own.
    const parts = schema.type === undefined ? (schema.anyOf ?? schema.allOf?.slice(0, 1) ?? []) : []
    const one = pick(parts.filter(isNumberOrMore), random)
    if (one !== undefined) return make(one, depth)
    if (schema.type === "array")
      return Array.from({ length: depth > 6 ? 0 : Math.round(random() * kind.items) }, () =>
        make(schema.items ?? {}, depth + 1)
      )
    if (schema.type === "object") return makeObject(schema, depth)
    if (schema.type === "boolean") return random() < 0.5
    if (schema.type === "null") return null
    if (schema.type === "integer" || schema.type === "number") return pick(numbers, random)
    if (schema.type !== "string") return kind.text(random)
    return schema.description?.includes("ISO 8601") === true
      ? new Date(startedAt + Math.floor(random() * 1e10)).toISOString()
      : kind.text(random)
  }
  return make
}

interface Operation {
  readonly responses?: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: JsonSchema }>> }>
  >
}

// The document has the form that OpenAPI prescribes.
const document = OpenApi.fromApi(AdminHttpApi) as unknown as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> }
}

/** Schemas of the replies to reads, by endpoint. */
const schemas: ReadonlyArray<readonly [endpoint: string, schema: JsonSchema]> = Object.entries(document.paths).flatMap(
  ([path, methods]) => {
    const schema = methods["get"]?.responses?.["200"]?.content?.["application/json"]?.schema
    const name = path.replace(adminPath, "").replaceAll(/\{(\w+)\}/g, ":$1")
    return schema === undefined || name === "/session" ? [] : [[`GET ${name}`, schema] as const]
  }
)

/** Returns a reply to every read. A list has no next page, so that its page is whole. */
export const randomReplies = (kind: Kind): Replies => {
  const make = makeValue(document.components.schemas, kind, makeChance(kind.seed))
  return Object.fromEntries(
    schemas.map(([endpoint, schema]) => {
      const reply = make(schema, 0)
      return [
        endpoint,
        typeof reply === "object" && reply !== null && "next_cursor" in reply ? { ...reply, next_cursor: null } : reply
      ]
    })
  )
}

/** Names of all reads. */
export const reads: ReadonlyArray<string> = schemas.map(([endpoint]) => endpoint)
