/**
 * Converts the schema files to plain data: allowed values, accepted spellings, and the meaning of each field. It is the source of
 * normalisation, error messages, cross-checks, defaults, JSON Schema, the reference and forms; no other module reads a schema's syntax
 * tree.
 */
import type { Schema } from "effect"
import { SchemaAST } from "effect"
import { keyAliases, listSpellings } from "../../domain/Vocabulary.ts"
import type { FieldMeta } from "./Field.ts"
import { FieldMetaKey } from "./Field.ts"
import type { NumberLimits } from "./Scalars.ts"
import { LimitsKey } from "./Scalars.ts"
import type { Reason } from "../../domain/Reason.ts"

export interface FieldShape {
  readonly name: string
  readonly required: boolean
  readonly meta: FieldMeta
  readonly shape: Shape
}

export interface ObjectShape {
  readonly type: "object"
  readonly fields: ReadonlyMap<string, FieldShape>
  /** Field names by every accepted spelling of a key. */
  readonly keys: ReadonlyMap<string, string>
  /** Shape of values under free keys: a map, or an open object. */
  readonly rest: Shape | undefined
  readonly limits: NumberLimits
}

export type Shape =
  | ObjectShape
  | { readonly type: "list"; readonly item: Shape; readonly limits: NumberLimits }
  | { readonly type: "scalar"; readonly scalar: Scalar; readonly limits: NumberLimits }
  | {
      readonly type: "enum"
      readonly values: ReadonlyArray<string>
      /** Canonical values by every accepted spelling. */
      readonly spellings: ReadonlyMap<string, string>
      readonly limits: NumberLimits
    }
  | { readonly type: "union"; readonly members: ReadonlyArray<Shape>; readonly limits: NumberLimits }

export type Scalar = "string" | "integer" | "number" | "boolean" | "secret" | "any"

const isMeta = (value: unknown): value is FieldMeta => typeof value === "object" && value !== null && "text" in value

const isLimits = (value: unknown): value is NumberLimits => typeof value === "object" && value !== null

const limitsOf = (ast: SchemaAST.AST): NumberLimits => {
  const found = SchemaAST.resolve(ast)?.[LimitsKey]
  return isLimits(found) ? found : {}
}

const otherKeys = new Map<string, Array<string>>()
for (const [token, name] of Object.entries(keyAliases)) otherKeys.set(name, [...(otherKeys.get(name) ?? []), token])

/** Returns the other accepted spellings of a field's key. */
export const spellingsOfKey = (field: FieldShape): ReadonlyArray<string> => [
  ...(otherKeys.get(field.name) ?? []),
  ...(field.meta.aliases ?? [])
]

const objectShape = (ast: SchemaAST.Objects): ObjectShape => {
  const fields = ast.propertySignatures.map(({ name, type }): FieldShape => {
    const meta = type.context?.annotations?.[FieldMetaKey]
    if (!isMeta(meta)) throw new Error(`field ${String(name)} has no description`)
    return { name: String(name), required: !SchemaAST.isOptional(type), meta, shape: build(type) }
  })
  const rest = ast.indexSignatures[0]?.type
  return {
    type: "object",
    fields: new Map(fields.map((field) => [field.name, field])),
    keys: new Map(fields.flatMap((field) => [field.name, ...spellingsOfKey(field)].map((key) => [key, field.name]))),
    rest: rest === undefined ? undefined : build(rest),
    limits: limitsOf(ast)
  }
}

const enumShape = (values: ReadonlyArray<string>, limits: NumberLimits): Shape => {
  const { concept } = limits
  const spellings = values.flatMap((value) =>
    [value, ...(concept === undefined ? [] : listSpellings(concept, value))].map(
      (spelling) => [spelling, value] as const
    )
  )
  return {
    type: "enum",
    values,
    spellings: new Map(spellings),
    limits: { expected: { _tag: "OneOf", values }, ...limits }
  }
}

const build = (ast: SchemaAST.AST): Shape => {
  const limits = limitsOf(ast)
  switch (ast._tag) {
    case "Objects":
      return objectShape(ast)
    case "Arrays": {
      const item = ast.rest[0]
      if (item === undefined) throw new Error("a list without an item type cannot be described")
      return { type: "list", item: build(item), limits }
    }
    case "Literal":
      return enumShape([String(ast.literal)], limits)
    case "Union": {
      const literals = ast.types.flatMap((type) => (type._tag === "Literal" ? [String(type.literal)] : []))
      if (literals.length === ast.types.length) return enumShape(literals, limits)
      return { type: "union", members: ast.types.map(build), limits }
    }
    case "String":
      return { type: "scalar", scalar: "string", limits }
    case "Boolean":
      return { type: "scalar", scalar: "boolean", limits }
    case "Number":
      return { type: "scalar", scalar: limits.integer === true ? "integer" : "number", limits }
    case "Declaration":
      return { type: "scalar", scalar: "secret", limits }
    case "Unknown":
      return { type: "scalar", scalar: "any", limits: { expected: { _tag: "AnyValue" }, ...limits } }
    default:
      throw new Error(`a field of type ${ast._tag} cannot be described`)
  }
}

const shapes = new WeakMap<SchemaAST.AST, Shape>()

export const readShape = (schema: Schema.Constraint): Shape => {
  const known = shapes.get(schema.ast)
  if (known !== undefined) return known
  const shape = build(schema.ast)
  shapes.set(schema.ast, shape)
  return shape
}

const eitherOf = ([first = { _tag: "SomeValue" }, ...others]: ReadonlyArray<Reason>): Reason =>
  others.length === 0 ? first : { _tag: "EitherOf", first, other: eitherOf(others) }

/** Describes the allowed values. */
export const expected = (shape: Shape): Reason => {
  if (shape.limits.expected !== undefined) return shape.limits.expected
  switch (shape.type) {
    case "object":
      return shape.fields.size === 0
        ? { _tag: "MapOf" }
        : { _tag: "MapOf", fields: [...shape.fields.keys()].slice(0, 8) }
    case "list":
      return { _tag: "ListOf" }
    case "union":
      return eitherOf(shape.members.map(expected))
    default:
      return { _tag: shape.type === "scalar" && shape.scalar === "string" ? "AnyText" : "SomeValue" }
  }
}

/** Returns the shape of the value at a path, or undefined if the document has no such path. */
export const shapeAt = (shape: Shape, path: ReadonlyArray<string | number>): Shape | undefined => {
  const [head, ...tail] = path
  if (head === undefined) return shape
  if (shape.type === "union")
    return shape.members.map((member) => shapeAt(member, path)).find((found) => found !== undefined)
  if (shape.type === "list") return typeof head === "number" ? shapeAt(shape.item, tail) : undefined
  if (shape.type !== "object") return undefined
  const next = shape.fields.get(shape.keys.get(String(head)) ?? "")?.shape ?? shape.rest
  return next === undefined ? undefined : shapeAt(next, tail)
}
