/** Reads the fields of a form from the JSON Schema of the configuration: their kind of input, the key of their description, and when they apply. Pure. */
import { listProperties, listValues, readTextKey } from "./SchemaPath.ts"
import type { JsonSchema } from "./SchemaPath.ts"

/** `texts`: a list of texts. `list`: a list of groups. `json`: anything that has no input of its own. */
type InputKind = "text" | "secret" | "number" | "flag" | "choice" | "texts" | "list" | "group" | "json"

/** A field applies only while a neighbour has one of some values. */
interface Condition {
  readonly field: string
  readonly values: ReadonlyArray<string>
}

export interface FormField {
  readonly name: string
  readonly kind: InputKind
  /** Key of its description. */
  readonly text: string
  readonly isRequired: boolean
  /** Default as text; empty: none. */
  readonly fallback: string
  /** Possible values of a choice. */
  readonly values: ReadonlyArray<string>
  readonly condition: Condition | undefined
  /** Schema of the value: that of a group, or of the elements of a list. */
  readonly schema: JsonSchema
}

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const toSchemas = (value: unknown): ReadonlyArray<JsonSchema> => (Array.isArray(value) ? value.filter(isSchema) : [])

/** The schema and its alternatives, without null. */
const forms = (schema: JsonSchema): ReadonlyArray<JsonSchema> => [
  schema,
  ...["anyOf", "oneOf"].flatMap((name) => toSchemas(schema[name]).flatMap(forms))
]

const typesOf = (schema: JsonSchema): ReadonlySet<string> =>
  new Set(
    forms(schema).flatMap(({ type }) =>
      (Array.isArray(type) ? type : [type]).filter(
        (name): name is string => typeof name === "string" && name !== "null"
      )
    )
  )

const itemsOf = (schema: JsonSchema): JsonSchema => {
  const { items } = forms(schema).find((form) => isSchema(form["items"])) ?? {}
  return isSchema(items) ? items : {}
}

/** Returns the kind of input for values of a schema. */
export const inputKind = (schema: JsonSchema): InputKind => {
  const all = forms(schema)
  const types = typesOf(schema)
  const hasFields = Object.keys(listProperties({ anyOf: all.filter((form) => form["items"] === undefined) })).length > 0
  if (all.some((form) => form["writeOnly"] === true)) return "secret"
  if (types.has("array")) {
    const items = inputKind(itemsOf(schema))
    return types.size > 1
      ? "json"
      : items === "group"
        ? "list"
        : items === "text" || items === "choice"
          ? "texts"
          : "json"
  }
  if (types.has("object")) return hasFields ? "group" : "json"
  if (all.some((form) => Array.isArray(form["enum"]))) return types.size === 0 ? "choice" : "json"
  if (types.size === 1 && types.has("boolean")) return "flag"
  if (types.has("string") && !types.has("boolean")) return "text"
  return types.has("integer") || types.has("number") ? "number" : "json"
}

const names = (schema: JsonSchema): ReadonlyArray<string> =>
  Array.isArray(schema["required"]) ? schema["required"].filter((name) => typeof name === "string") : []

/** Reads a rule of the form "not set, or the neighbour has one of these values". */
const readCondition = (rule: JsonSchema, name: string): Condition | undefined => {
  const [absent, holds, ...others] = toSchemas(rule["anyOf"])
  if (absent === undefined || holds === undefined || others.length > 0) return undefined
  const not = absent["not"]
  const [field] = names(holds)
  if (!isSchema(not) || names(not)[0] !== name || field === undefined || field === name) return undefined
  const properties = isSchema(holds["properties"]) ? holds["properties"][field] : undefined
  const values = isSchema(properties) ? properties["enum"] : undefined
  return Array.isArray(values) ? { field, values: values.map(String) } : undefined
}

const readFallback = (schema: JsonSchema): string => {
  const value = schema["default"]
  return value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value)
}

/** Returns the fields of a group, without other spellings of the same field. */
export const listFields = (schema: JsonSchema): ReadonlyArray<FormField> => {
  const rules = forms(schema).flatMap((form) => toSchemas(form["allOf"]))
  return Object.entries(listProperties(schema))
    .filter(([, field]) => field["deprecated"] !== true)
    .map(([name, field]) => ({
      name,
      kind: inputKind(field),
      text: readTextKey(field),
      isRequired: rules.some((rule) => rule["anyOf"] === undefined && names(rule)[0] === name),
      fallback: readFallback(field),
      values: listValues(field),
      condition: rules.map((rule) => readCondition(rule, name)).find((found) => found !== undefined),
      schema: inputKind(field) === "list" ? itemsOf(field) : field
    }))
}

/** Returns whether a field can be set next to these values. A field that is set is shown, so that it can be removed. */
export const applies = ({ condition, name }: FormField, values: Readonly<Record<string, unknown>>): boolean => {
  if (condition === undefined || values[name] !== undefined) return true
  const neighbour = values[condition.field]
  return typeof neighbour === "string" && condition.values.includes(neighbour)
}
