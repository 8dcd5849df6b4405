/**
 * The configuration that the database holds: global fields, and entities by kind and name. In memory it is normalised, and credentials are
 * `Redacted`, sealed or literal; in the store it is JSON with sealed credentials.
 */
import { Redacted } from "effect"
import { isRecord } from "../document/Path.ts"
import type { Report } from "../document/Normalise.ts"
import { normalise } from "../document/Normalise.ts"
import type { Tree } from "../checks/Tree.ts"
import type { EntityKind, EntityRef } from "./Entities.ts"
import { entityKinds, entityShape, globalsShape } from "./Entities.ts"
import type { Reason } from "../../domain/Reason.ts"

/** Values of one kind by name. A template and a prompt are text, a model group is a list, all others are maps. */
export type Collection = Readonly<Record<string, unknown>>

export interface DatabaseDocument {
  readonly globals: Tree
  readonly entities: Readonly<Record<EntityKind, Collection>>
}

const noEntities = (): Record<EntityKind, Collection> => ({
  providers: {},
  model_groups: {},
  triggers: {},
  channels: {},
  workspaces: {},
  routes: {},
  templates: {},
  prompts: {},
  im_connections: {},
  im_command_bindings: {}
})

export const emptyDocument: DatabaseDocument = { globals: {}, entities: noEntities() }

/** Parses a stored or imported document. Unknown kinds and fields are reported with their path. */
export const parseDocument = (source: unknown, report: Report): DatabaseDocument => {
  const complain = (path: ReadonlyArray<string>, reason: Reason): void => report({ path, reason, at: "key" })
  if (!isRecord(source)) {
    complain([], { _tag: "RootExpected", fields: ["globals", "entities"] })
    return emptyDocument
  }
  for (const key of Object.keys(source))
    if (key !== "globals" && key !== "entities")
      complain([key], { _tag: "KeyUnknown", key: JSON.stringify(key), allowed: ["globals", "entities"] })
  const globals = normalise(globalsShape(), source["globals"] ?? {}, report, ["globals"])
  const given = source["entities"] ?? {}
  if (!isRecord(given)) complain(["entities"], { _tag: "RootExpected", fields: entityKinds })
  const entities = noEntities()
  for (const [kind, values] of Object.entries(isRecord(given) ? given : {})) {
    const known = entityKinds.find((one) => one === kind)
    if (known === undefined)
      complain(["entities", kind], { _tag: "KindUnknown", kind: JSON.stringify(kind), kinds: entityKinds })
    else if (!isRecord(values)) complain(["entities", kind], { _tag: "NamesExpected" })
    else entities[known] = parseCollection(known, values, report)
  }
  return { globals: isRecord(globals) ? globals : {}, entities }
}

const parseCollection = (kind: EntityKind, values: Tree, report: Report): Collection => {
  const shape = entityShape(kind)
  return Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => [name, normalise(shape, value, report, ["entities", kind, name])])
  )
}

export const entityIn = (document: DatabaseDocument, { kind, name }: EntityRef): unknown => {
  const collection = document.entities[kind]
  return Object.hasOwn(collection, name) ? collection[name] : undefined
}

/** Returns the document with another value of an entity; undefined removes it. */
export const withEntity = (document: DatabaseDocument, { kind, name }: EntityRef, value: unknown): DatabaseDocument => {
  const { [name]: _, ...others } = document.entities[kind]
  const collection = value === undefined ? others : { ...others, [name]: value }
  return { ...document, entities: { ...document.entities, [kind]: collection } }
}

/** Returns every entity. */
export const listEntities = (document: DatabaseDocument): ReadonlyArray<EntityRef & { readonly value: unknown }> =>
  entityKinds.flatMap((kind) => Object.entries(document.entities[kind]).map(([name, value]) => ({ kind, name, value })))

/**
 * Returns the document as plain data, with each credential replaced by the result of `write`.
 */
export const toPlain = (value: unknown, write: (secret: Redacted.Redacted<unknown>) => unknown): unknown => {
  if (Redacted.isRedacted(value)) return write(value)
  if (Array.isArray(value)) return value.map((item: unknown) => toPlain(item, write))
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, toPlain(inner, write)]))
}
