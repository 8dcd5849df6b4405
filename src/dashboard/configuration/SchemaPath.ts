/** Finds the place in the JSON Schema of the configuration that a line of YAML is about: by indentation, so that unfinished text works too. Pure. */

export type JsonSchema = Readonly<Record<string, unknown>>

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Returns the schema with its shared parts in place of references to them. No part refers to itself. */
export const inlineReferences = (root: JsonSchema): JsonSchema => {
  const parts = isSchema(root["$defs"]) ? root["$defs"] : {}
  const made = new Map<string, unknown>()
  const inline = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inline)
    if (!isSchema(value)) return value
    const name = typeof value["$ref"] === "string" ? value["$ref"].replace("#/$defs/", "") : undefined
    if (name === undefined) return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, inline(inner)]))
    if (!made.has(name)) made.set(name, inline(parts[name]))
    return made.get(name)
  }
  const { $defs: _, ...rest } = root
  const inlined = inline(rest)
  return isSchema(inlined) ? inlined : root
}

/** Paths of the collections of entities in the schema of a file. */
const collections: Readonly<Record<string, ReadonlyArray<string>>> = {
  providers: ["llm", "providers"],
  model_groups: ["llm", "model_chain"],
  triggers: ["triggers"],
  channels: ["outputs", "channels"],
  workspaces: ["workspaces", "instances"],
  routes: ["outputs", "routes", "rules"],
  templates: ["outputs", "templates"],
  prompts: ["prompts", "system"],
  im_connections: ["im", "connections"],
  im_command_bindings: ["im", "command_bindings"]
}

const alternatives = (schema: JsonSchema): ReadonlyArray<JsonSchema> => [
  schema,
  ...["anyOf", "oneOf", "allOf"].flatMap((name) => {
    const found = schema[name]
    return Array.isArray(found) ? found.filter(isSchema).flatMap(alternatives) : []
  })
]

/** Properties of a schema, also those of its alternatives and of the elements of a list. */
export const listProperties = (schema: JsonSchema): Readonly<Record<string, JsonSchema>> => {
  const found: Record<string, JsonSchema> = {}
  for (const one of alternatives(schema)) {
    if (isSchema(one["properties"]))
      for (const [name, value] of Object.entries(one["properties"])) if (isSchema(value)) found[name] ??= value
    if (isSchema(one["items"])) Object.assign(found, listProperties(one["items"]))
  }
  return found
}

const child = (schema: JsonSchema, name: string): JsonSchema | undefined => {
  const named = listProperties(schema)[name]
  if (named !== undefined) return named
  return alternatives(schema)
    .flatMap((one) => [one["additionalProperties"], one["items"]])
    .find(isSchema)
}

const descend = (schema: JsonSchema | undefined, path: ReadonlyArray<string>): JsonSchema | undefined =>
  path.reduce<JsonSchema | undefined>(
    (current, name) => (current === undefined ? undefined : child(current, name)),
    schema
  )

/** Returns the schema of a path of the database's document. */
export const schemaAt = (root: JsonSchema, path: ReadonlyArray<string>): JsonSchema | undefined => {
  const [part, kind, , ...rest] = path
  if (part === undefined) return { properties: { globals: {}, entities: {} } }
  if (part === "globals") return descend(root, path.slice(1))
  if (kind === undefined) return { properties: Object.fromEntries(Object.keys(collections).map((name) => [name, {}])) }
  const collection = descend(root, collections[kind] ?? [])
  if (collection === undefined || path.length < 3) return undefined
  const entity = alternatives(collection)
    .flatMap((one) => [one["items"], one["additionalProperties"]])
    .find(isSchema)
  return descend(entity, rest)
}

const keyLine = /^(\s*(?:- )*)([^\s#:"'-][^:#]{0,200}):/

/** Returns the keys above a line, from the outermost, and with `self` its own key. */
export const findPath = (
  lines: ReadonlyArray<string>,
  index: number,
  self: boolean,
  indent = Number.POSITIVE_INFINITY
): ReadonlyArray<string> => {
  const path: Array<string> = []
  let limit = indent
  for (let at = self ? index : index - 1; at >= 0; at--) {
    const [, before = "", name] = keyLine.exec(lines[at] ?? "") ?? []
    if (name === undefined || before.length >= limit) continue
    path.unshift(name.trim())
    limit = before.length
    if (limit === 0) break
  }
  return path
}

/** Returns the values that a schema allows. */
export const listValues = (schema: JsonSchema): ReadonlyArray<string> =>
  alternatives(schema).flatMap((one) => {
    if (Array.isArray(one["enum"])) return one["enum"].map(String)
    return one["type"] === "boolean" || (Array.isArray(one["type"]) && one["type"].includes("boolean"))
      ? ["true", "false"]
      : []
  })

/** Returns the key of the description. */
export const readTextKey = (schema: JsonSchema): string =>
  typeof schema["x-text"] === "string" ? schema["x-text"] : ""

/** Returns the index of the line that a problem such as `triggers/main` and `base_url` is about: that of the longest matching path. */
export const findLine = (lines: ReadonlyArray<string>, entity: string, path: string): number => {
  const wanted = [
    ...(entity === "globals" ? ["globals"] : ["entities", ...entity.split("/")]),
    ...path.split(".")
  ].filter(Boolean)
  let best = { line: 0, length: 0 }
  for (const [line] of lines.entries()) {
    const own = findPath(lines, line, true, indentOf(lines[line]) + 1)
    if (own.length > best.length && own.every((name, index) => name === wanted[index]))
      best = { line, length: own.length }
  }
  return best.line
}

const indentOf = (line: string | undefined): number => /^\s*(?:- )*/.exec(line ?? "")?.[0].length ?? 0
export const indentOfLine = indentOf
