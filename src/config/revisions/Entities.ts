/**
 * The parts of the document that database configuration edits one by one, each with a name that is unique in its kind. Everything else that
 * the database may configure belongs to `globals`.
 */
import type { Shape } from "../fields/Shape.ts"
import { readShape } from "../fields/Shape.ts"
import { Document } from "../Document.ts"

export const entityKinds = [
  "providers",
  "model_groups",
  "triggers",
  "channels",
  "workspaces",
  "routes",
  "templates",
  "prompts",
  "im_connections",
  "im_command_bindings"
] as const
export type EntityKind = (typeof entityKinds)[number]

export interface EntityLocation {
  /** Path of the collection in the document. */
  readonly at: ReadonlyArray<string>
  /**
   * `map`: values by name. `list`: elements with their name in the field `nameField`. `ordered`: elements without a name, in the order of
   * their names.
   */
  readonly form: "list" | "map" | "ordered"
  readonly nameField?: string
}

export const entityLocations: Readonly<Record<EntityKind, EntityLocation>> = {
  providers: { at: ["llm", "providers"], form: "list", nameField: "id" },
  model_groups: { at: ["llm", "model_chain"], form: "map" },
  triggers: { at: ["triggers"], form: "list", nameField: "name" },
  channels: { at: ["outputs", "channels"], form: "list", nameField: "name" },
  workspaces: { at: ["workspaces", "instances"], form: "map" },
  routes: { at: ["outputs", "routes", "rules"], form: "ordered" },
  templates: { at: ["outputs", "templates"], form: "map" },
  prompts: { at: ["prompts", "system"], form: "map" },
  im_connections: { at: ["im", "connections"], form: "map" },
  im_command_bindings: { at: ["im", "command_bindings"], form: "map" }
}

/**
 * Namespaces of the document that only the file may set: without them the database could not be read, or could lock everybody
 * out, or could name a program to execute.
 */
export const bootstrapNamespaces: ReadonlySet<string> = new Set([
  "config_sources",
  "perforce",
  "storage",
  "server",
  "admin",
  "allow_empty"
])

export interface EntityRef {
  readonly kind: EntityKind
  readonly name: string
}

/** Formats a reference, such as `triggers/main`. */
export const formatRef = ({ kind, name }: EntityRef): string => `${kind}/${name}`

export interface EntityField {
  /** `triggers/main`, or `globals`. */
  readonly entity: string
  /** Field in the entity, part by part; empty for the whole entity. */
  readonly field: ReadonlyArray<string>
}

/** Returns the entity that a path of the document belongs to; `names` has names in place of positions. */
export const entityField = (names: ReadonlyArray<string>): EntityField => {
  for (const kind of entityKinds) {
    const { at } = entityLocations[kind]
    const name = names[at.length]
    if (name !== undefined && at.every((part, index) => part === names[index]))
      return { entity: formatRef({ kind, name }), field: names.slice(at.length + 1) }
  }
  return { entity: "globals", field: names }
}

/** Longest name of an entity, in characters. */
export const maxNameLength = 512

/** Returns the shape of an entity's value, without the wrapper of its collection. */
export const entityShape = (kind: EntityKind): Shape => {
  const { at } = entityLocations[kind]
  const collection = at.reduce<Shape>((shape, key) => inner(shape, key), readShape(Document))
  const value =
    collection.type === "list" ? collection.item : collection.type === "object" ? collection.rest : undefined
  if (value === undefined) throw new Error(`${at.join(".")} is not a collection`)
  return value
}

/** Returns the shape of the document with neither entities nor bootstrap namespaces. */
export const globalsShape = (): Shape => {
  const root = readShape(Document)
  if (root.type !== "object") throw new Error("the document is not a map")
  const paths = entityKinds.map((kind) => entityLocations[kind].at)
  return without(root, [...paths, ...[...bootstrapNamespaces].map((name) => [name])])
}

const inner = (shape: Shape, key: string): Shape => {
  const found = shape.type === "object" ? shape.fields.get(key)?.shape : undefined
  if (found === undefined) throw new Error(`the document has no field ${key}`)
  return found
}

const without = (shape: Shape, paths: ReadonlyArray<ReadonlyArray<string>>): Shape => {
  if (shape.type !== "object") return shape
  const fields = [...shape.fields].flatMap(([name, field]) => {
    const below = paths.filter(([first]) => first === name).map((path) => path.slice(1))
    if (below.some((path) => path.length === 0)) return []
    return [[name, below.length === 0 ? field : { ...field, shape: without(field.shape, below) }] as const]
  })
  const kept = new Map(fields)
  return { ...shape, fields: kept, keys: new Map([...shape.keys].filter(([, name]) => kept.has(name))) }
}
