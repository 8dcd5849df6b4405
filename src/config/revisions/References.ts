/** Follows a renamed entity: replaces its name in every field of the database's document that refers to it, also as the key of a map. Pure. */
import type { Reference } from "../fields/Field.ts"
import { isRecord } from "../document/Path.ts"
import type { FieldShape, Shape } from "../fields/Shape.ts"
import type { DatabaseDocument } from "./DatabaseDocument.ts"
import type { EntityKind, EntityRef } from "./Entities.ts"
import { entityKinds, entityShape, globalsShape } from "./Entities.ts"

/** Kinds of references by kind of entity. Route rules and bindings are not referred to. */
const referenceKinds: Readonly<Partial<Record<EntityKind, Reference>>> = {
  providers: "provider",
  model_groups: "chain",
  triggers: "trigger",
  channels: "channel",
  workspaces: "workspace",
  templates: "template",
  prompts: "prompt",
  im_connections: "connection"
}

export const renameReferences = (document: DatabaseDocument, from: EntityRef, to: string): DatabaseDocument => {
  const refers = referenceKinds[from.kind]
  if (refers === undefined) return document
  const rename = (shape: Shape, value: unknown): unknown => replaced(shape, value, refers, from.name, to)
  const globals = rename(globalsShape(), document.globals)
  const entities = { ...document.entities }
  for (const kind of entityKinds) {
    const shape = entityShape(kind)
    if (!mayRefer(shape, refers)) continue
    entities[kind] = Object.fromEntries(
      Object.entries(document.entities[kind]).map(([name, value]) => [name, rename(shape, value)])
    )
  }
  return { globals: isRecord(globals) ? globals : {}, entities }
}

const referring = new WeakMap<Shape, Map<Reference, boolean>>()

/** Returns whether a value of this shape may refer to entities of a kind. Others, of which there may be thousands, are not read. */
const mayRefer = (shape: Shape, refers: Reference): boolean => {
  const known = referring.get(shape) ?? new Map<Reference, boolean>()
  referring.set(shape, known)
  const found = known.get(refers)
  if (found !== undefined) return found
  const result = searchReference(shape, refers)
  known.set(refers, result)
  return result
}

const searchReference = (shape: Shape, refers: Reference): boolean => {
  switch (shape.type) {
    case "union":
      return shape.members.some((member) => mayRefer(member, refers))
    case "list":
      return mayRefer(shape.item, refers)
    case "object":
      return (
        [...shape.fields.values()].some((field) => field.meta.refers === refers || mayRefer(field.shape, refers)) ||
        (shape.rest !== undefined && mayRefer(shape.rest, refers))
      )
    default:
      return false
  }
}

const replaced = (shape: Shape, value: unknown, refers: Reference, from: string, to: string): unknown => {
  if (!mayRefer(shape, refers)) return value
  if (shape.type === "union") {
    const member = shape.members.find(({ type }) => (Array.isArray(value) ? type === "list" : type === "object"))
    return member === undefined ? value : replaced(member, value, refers, from, to)
  }
  if (shape.type === "list" && Array.isArray(value))
    return value.map((item: unknown) => replaced(shape.item, item, refers, from, to))
  if (shape.type !== "object" || !isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const field = shape.fields.get(key)
      return [key, field === undefined ? inRest(shape.rest, item) : inField(field, item)]
    })
  )

  function inRest(rest: Shape | undefined, item: unknown): unknown {
    return rest === undefined ? item : replaced(rest, item, refers, from, to)
  }
  function inField(field: FieldShape, item: unknown): unknown {
    if (field.meta.refers !== refers) return replaced(field.shape, item, refers, from, to)
    if (Array.isArray(item)) return item.map((name: unknown) => (name === from ? to : name))
    if (isRecord(item))
      return Object.fromEntries(Object.entries(item).map(([name, inner]) => [name === from ? to : name, inner]))
    return item === from ? to : item
  }
}
