/** Follows a renamed entity: replaces its name in every field of the database's document that refers to it. Pure. */
import type { Reference } from "../Field.ts"
import { isRecord } from "../Path.ts"
import type { FieldShape, Shape } from "../Shape.ts"
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
    entities[kind] = Object.fromEntries(
      Object.entries(document.entities[kind]).map(([name, value]) => [name, rename(shape, value)])
    )
  }
  return { globals: isRecord(globals) ? globals : {}, entities }
}

const replaced = (shape: Shape, value: unknown, refers: Reference, from: string, to: string): unknown => {
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
    return item === from ? to : item
  }
}
