/**
 * Builds the JSON Schema 2020-12 of the document, for editors: every accepted spelling, limit, default and description, and the rules
 * between fields of one object that JSON Schema can express. `aicr config check` checks rules across the document (references, layers).
 */
import { Document } from "./Document.ts"
import { describeField } from "./fields/Field.ts"
import type { FieldMeta, When } from "./fields/Field.ts"
import type { NumberLimits } from "./fields/Scalars.ts"
import type { FieldShape, ObjectShape, Shape } from "./fields/Shape.ts"
import { readShape, spellingsOfKey } from "./fields/Shape.ts"
import { inEnglish } from "../text/en.ts"

export type Json = { readonly [key: string]: unknown }

type Describe = (meta: FieldMeta) => Json

const describeInEnglish: Describe = (meta) => ({
  description:
    meta.reserved === undefined ? describeField(meta) : `${describeField(meta)} Reserved: ${inEnglish(meta.reserved)}.`
})

/** Describes fields with the key of their description too, for readers that have it in several languages. */
export const withTextKey: Describe = (meta) => ({ ...describeInEnglish(meta), "x-text": meta.text })

export const jsonSchema = (describe = describeInEnglish): Json => {
  const root = schemaOf(readShape(Document), describe)
  const { schema, definitions } = hoist(root)
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: "https://aicr.invalid/config.schema.json",
    title: "aicr configuration",
    ...schema,
    // Parts for anchors, which the service does not read.
    patternProperties: { "^x-": {} },
    $defs: definitions
  }
}

const schemaOf = (shape: Shape, describe: Describe): Json => {
  switch (shape.type) {
    case "object":
      return shape.limits.shorthand === undefined
        ? objectSchema(shape, describe)
        : { anyOf: [objectSchema(shape, describe), short] }
    case "list":
      return { type: "array", items: schemaOf(shape.item, describe), ...listLimits(shape.limits) }
    case "enum":
      return { enum: [...shape.spellings.keys()] }
    case "union":
      return { anyOf: shape.members.map((member) => schemaOf(member, describe)) }
    case "scalar":
      return scalarSchema(shape.scalar, shape.limits)
  }
}

/** A short form is text or a number; the loader checks the details. */
const short: Json = { type: ["string", "number"] }

const scalarSchema = (scalar: string, limits: NumberLimits): Json => {
  if (scalar === "any") return {}
  const type = scalar === "secret" ? "string" : scalar
  const { minimum, maximum, exclusiveMinimum, minLength, maxLength, pattern, format } = limits
  return compact({
    type,
    minimum,
    maximum,
    exclusiveMinimum,
    minLength,
    maxLength,
    pattern,
    format: format === "uri" || format === "date-time" ? format : undefined,
    writeOnly: scalar === "secret" ? true : undefined
  })
}

const listLimits = ({ minItems, maxItems, unique }: NumberLimits): Json =>
  compact({
    minItems: minItems === 0 ? undefined : minItems,
    maxItems,
    uniqueItems: unique === true ? true : undefined
  })

const compact = (value: Json): Json =>
  Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined))

const objectSchema = (shape: ObjectShape, describe: Describe): Json => {
  const fields = [...shape.fields.values()]
  const properties = Object.fromEntries(
    fields.flatMap((field) => {
      const own = fieldSchema(field, describe)
      const others = spellingsOfKey(field).map(
        (other) =>
          [
            other,
            {
              ...own,
              description: `Other spelling of \`${field.name}\`. ${describeField(field.meta)}`,
              deprecated: true
            }
          ] as const
      )
      return [[field.name, own] as const, ...others]
    })
  )
  const rules = [...fields.flatMap((field) => rulesOf(shape, field)), ...oneOf(shape.limits)]
  const { keys, reservedKeys } = shape.limits
  return compact({
    type: "object",
    properties: fields.length === 0 ? undefined : properties,
    additionalProperties: shape.rest === undefined ? false : nullable(schemaOf(shape.rest, describe)),
    propertyNames:
      keys === undefined && reservedKeys === undefined
        ? undefined
        : compact({ pattern: keys, not: reservedKeys === undefined ? undefined : { enum: reservedKeys } }),
    allOf: rules.length === 0 ? undefined : rules
  })
}

const fieldSchema = ({ meta, shape, required }: FieldShape, describe: Describe): Json => {
  const schema = schemaOf(shape, describe)
  return compact({
    ...describe(meta),
    default: isPlainDefault(meta) ? (meta.default ?? meta.runtimeDefault) : undefined,
    ...(required ? schema : nullable(schema))
  })
}

const isPlainDefault = ({ default: value }: FieldMeta): boolean =>
  value === undefined || typeof value !== "object" || Array.isArray(value)

/** Null is equivalent to absent. */
const nullable = (schema: Json): Json => {
  if (typeof schema["type"] === "string" && schema["allOf"] === undefined)
    return { ...schema, type: [schema["type"], "null"] }
  return Object.keys(schema).length === 0 ? schema : { anyOf: [schema, { type: "null" }] }
}

const set = (shape: ObjectShape, name: string): Json => {
  const field = shape.fields.get(name)
  const spellings = field === undefined ? [name] : [name, ...spellingsOfKey(field)]
  const any = spellings.map((spelling) => ({
    required: [spelling],
    properties: { [spelling]: { not: { type: "null" } } }
  }))
  const [only] = any
  return any.length === 1 && only !== undefined ? only : { anyOf: any }
}

/** Requires one of the values of the sibling, in any spelling. */
const holds = (shape: ObjectShape, { field, values, absent }: When): Json => {
  const neighbour = shape.fields.get(field)?.shape
  const spellings =
    neighbour?.type === "enum"
      ? [...neighbour.spellings].filter(([, name]) => values.includes(name)).map(([spelling]) => spelling)
      : values
  const given = { required: [field], properties: { [field]: { enum: spellings } } }
  return absent !== undefined && values.includes(absent) ? { anyOf: [given, { not: set(shape, field) }] } : given
}

const rulesOf = (shape: ObjectShape, field: FieldShape): ReadonlyArray<Json> => {
  const { name, meta, required } = field
  return [
    ...spellingsOfKey(field).map((other) => ({ not: { required: [name, other] } })),
    ...(required ? [set(shape, name)] : []),
    ...(meta.exclusive ?? []).map((other) => ({ not: { allOf: [set(shape, name), set(shape, other)] } })),
    ...(meta.when === undefined ? [] : [implies(set(shape, name), holds(shape, meta.when))]),
    ...(meta.requiredWhen === undefined ? [] : [implies(holds(shape, meta.requiredWhen), set(shape, name))])
  ]
}

const implies = (condition: Json, consequence: Json): Json => ({ anyOf: [{ not: condition }, consequence] })

const oneOf = ({ oneOf: names }: NumberLimits): ReadonlyArray<Json> =>
  names === undefined ? [] : [{ anyOf: names.map((name) => ({ required: [name] })) }]

/** Moves large repeated parts to definitions. */
const hoist = (root: Json): { readonly schema: Json; readonly definitions: Json } => {
  const counts = new Map<string, number>()
  const count = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return
    if (isLarge(value)) {
      const text = JSON.stringify(value)
      const seen = counts.get(text) ?? 0
      counts.set(text, seen + 1)
      if (seen > 0) return
    }
    for (const inner of Object.values(value)) count(inner)
  }
  count(root)
  const names = new Map<string, string>()
  const definitions: Record<string, unknown> = {}
  const replace = (value: unknown, whole: boolean): unknown => {
    if (typeof value !== "object" || value === null) return value
    if (Array.isArray(value)) return value.map((item) => replace(item, false))
    const text = !whole && isLarge(value) ? JSON.stringify(value) : ""
    if ((counts.get(text) ?? 0) > 1) {
      const name = names.get(text) ?? `part${names.size + 1}`
      if (!names.has(text)) {
        names.set(text, name)
        definitions[name] = replace(value, true)
      }
      return { $ref: `#/$defs/${name}` }
    }
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, replace(inner, false)]))
  }
  const schema = replace(root, true)
  return { schema: isJson(schema) ? schema : {}, definitions }
}

const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

const isLarge = (value: object): boolean =>
  isJson(value) && value["type"] !== undefined && JSON.stringify(value).length > 600
