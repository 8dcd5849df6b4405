/**
 * Determines where a credential of web search is sent: to the endpoint that the block of its provider has (`web_search.searxng.endpoint`). Layers of
 * workspaces merge, so the credential of one layer is used with the endpoint of another; a credential of a shared layer is used with the
 * endpoints of all workspaces that inherit it. Pure.
 */
import { mergeLayers } from "../fields/Defaults.ts"
import { Document } from "../Document.ts"
import type { Path } from "../document/Path.ts"
import { isRecord, valueAt } from "../document/Path.ts"
import { readShape, shapeAt } from "../fields/Shape.ts"
import type { DestinationFields } from "./DestinationFields.ts"
import { readDestinationFields } from "./DestinationFields.ts"

const search = ["agent", "web_search"]
const defaults = ["workspaces", "defaults"]
const instances = ["workspaces", "instances"]

/** Returns the id of the search provider, and the path of the layer, to which a credential belongs. */
const locate = (path: Path): { readonly id: string; readonly layer: Path } | undefined => {
  const at = path.indexOf("web_search")
  const id = path[at + 2]
  return at > 0 && path[at - 1] === "agent" && path[at + 1] === "credentials" && typeof id === "string"
    ? { id, layer: path.slice(0, at - 1) }
    : undefined
}

/** Returns the fields that decide where the search credential at this path goes: a list of values where workspaces differ. */
export const searchEndpoints = (document: unknown, path: Path): DestinationFields => {
  const found = locate(path)
  if (found === undefined) return {}
  const { id, layer } = found
  const block = (at: Path): unknown => valueAt(document, [...at, ...search, id])
  const has = (at: Path): boolean => valueAt(document, [...at, ...search, "credentials", id]) !== undefined
  const shared = mergeLayers(block([]), block(defaults))
  const shape = shapeAt(readShape(Document), [...search, id])
  const read = (...layers: ReadonlyArray<unknown>): DestinationFields =>
    readDestinationFields(shape, mergeLayers<unknown>(...layers))
  if (layer.length > 2) return read(shared, block(layer))
  // The defaults of workspaces replace a global credential.
  if (layer.length === 0 && has(defaults)) return {}
  const ids = Object.keys(asRecord(valueAt(document, instances)))
  const own = ids
    .map((name) => [...instances, name])
    .filter((at) => block(at) !== undefined && !has(at))
    .map((at) => read(shared, block(at)))
  return combine([read(shared), ...own])
}

const asRecord = (value: unknown): Readonly<Record<string, unknown>> => (isRecord(value) ? value : {})

/** Returns each field with its value, or with the list of its different values. */
const combine = (all: ReadonlyArray<DestinationFields>): DestinationFields =>
  Object.fromEntries(
    [...new Set(all.flatMap((fields) => Object.keys(fields)))].map((name) => {
      const values = all.flatMap((fields) => (fields[name] === undefined ? [] : [JSON.stringify(fields[name])]))
      const distinct = [...new Set(values)].toSorted().map((text): unknown => JSON.parse(text))
      return [name, distinct.length === 1 ? distinct[0] : distinct]
    })
  )
