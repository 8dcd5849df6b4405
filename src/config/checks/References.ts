/** Lists the names in the fields that refer to entities of one kind, as their schema declares it. */
import type { Reference } from "../fields/Field.ts"
import type { Path } from "../document/Path.ts"
import { isRecord } from "../document/Path.ts"
import type { Shape } from "../fields/Shape.ts"
import { recordAt, textsAt } from "./Tree.ts"
import type { TreePosition } from "./Tree.ts"

/** Returns the names in a field that refers to entities: its texts, or the keys of its map. */
export const namesAt = (holder: unknown, field: string): ReadonlyArray<TreePosition<string>> => [
  ...textsAt(holder, field),
  ...Object.keys(recordAt(holder, field)).map((key) => ({ path: [field, key], value: key }))
]

export const listReferences = (
  shape: Shape,
  value: unknown,
  refers: Reference,
  path: Path = []
): ReadonlyArray<TreePosition<string>> => {
  if (shape.type === "list") {
    return Array.isArray(value)
      ? value.flatMap((item: unknown, index) => listReferences(shape.item, item, refers, [...path, index]))
      : []
  }
  if (shape.type === "union") return shape.members.flatMap((member) => listReferences(member, value, refers, path))
  if (shape.type !== "object" || !isRecord(value)) return []
  return Object.keys(value).flatMap((key) => {
    const field = shape.fields.get(key)
    const inner = field?.shape ?? shape.rest
    const named =
      field?.meta.refers === refers
        ? namesAt(value, key).map((text) => ({ ...text, path: [...path, ...text.path] }))
        : []
    return [...named, ...(inner === undefined ? [] : listReferences(inner, value[key], refers, [...path, key]))]
  })
}
