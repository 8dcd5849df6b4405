/** Reads the fields of a map that decide where the credentials of its holder go. Pure. */
import { isRecord } from "../document/Path.ts"
import type { Shape } from "../fields/Shape.ts"

export type DestinationFields = Readonly<Record<string, unknown>>

/** Fields whose values name, or are, a part of the destination themselves. */
export const links = ["kind", "trigger", "connection"]

/** Absent and false are the same, and so is an empty map. */
const isSet = (value: unknown): boolean =>
  value !== undefined && value !== false && !(isRecord(value) && Object.keys(value).length === 0)

export const readDestinationFields = (shape: Shape | undefined, holder: unknown): DestinationFields => {
  const objects = shape?.type === "union" ? shape.members : [shape]
  const object = objects.find((one) => one?.type === "object")
  if (object?.type !== "object" || !isRecord(holder)) return {}
  return Object.fromEntries(
    [...object.fields.values()].flatMap(({ meta, name }) => {
      const isLink = links.includes(name) && typeof holder[name] === "string"
      return (isLink || meta.destination === true) && isSet(holder[name]) ? [[name, holder[name]] as const] : []
    })
  )
}
