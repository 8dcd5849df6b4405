/**
 * Determines the location that a credential of the document is sealed for: its entity and its field, in the terms of database
 * configuration. Pure.
 */
import { resolve } from "../fields/Defaults.ts"
import type { Path } from "../document/Path.ts"
import { isRecord, valueAt } from "../document/Path.ts"
import { entityField } from "../revisions/Entities.ts"
import type { SealedLocation } from "./Sealing.ts"
import { ConfigSourcesConfig } from "../schema/ConfigSources.ts"

export const locateCredential = (names: ReadonlyArray<string>, namespace: string): SealedLocation => {
  const { entity, field } = entityField(names)
  return { namespace, entity, field: field.join(".") }
}

/** Returns a path with ids, names and aliases instead of positions. */
export const named = (tree: unknown, path: Path): ReadonlyArray<string> =>
  path.map((segment, index) => {
    if (typeof segment !== "number") return segment
    const element = valueAt(tree, path.slice(0, index + 1))
    const name = isRecord(element) ? (element["id"] ?? element["name"] ?? element["alias"]) : undefined
    return typeof name === "string" ? name : String(segment)
  })

/** Returns the path that names lead to: the reverse of `named`. */
export const positions = (tree: unknown, names: unknown): Path | undefined => {
  if (!Array.isArray(names)) return undefined
  const path: Array<string | number> = []
  for (const name of names) {
    const here = valueAt(tree, path)
    if (Array.isArray(here)) {
      const index = indexOf(here).get(name)
      if (index === undefined) return undefined
      path.push(index)
    } else if (typeof name === "string") path.push(name)
    else return undefined
  }
  return path
}

/** Positions by name of the lists that were read, so that finding every element of a long list takes linear time. Lists do not change. */
const indexes = new WeakMap<ReadonlyArray<unknown>, ReadonlyMap<unknown, number>>()

/** Returns the first position of each name. */
const indexOf = (list: ReadonlyArray<unknown>): ReadonlyMap<unknown, number> => {
  const known = indexes.get(list)
  if (known !== undefined) return known
  const entries = list.map((item, at): readonly [unknown, number] => [
    isRecord(item) ? (item["id"] ?? item["name"] ?? item["alias"] ?? String(at)) : String(at),
    at
  ])
  const index = new Map(entries.toReversed())
  indexes.set(list, index)
  return index
}

/** Returns the namespace of a document that is not decoded yet. */
export const readNamespace = (tree: unknown): string => {
  const namespace = valueAt(tree, ["config_sources", "database", "namespace"])
  const database = typeof namespace === "string" ? { namespace } : {}
  return resolve(ConfigSourcesConfig, { database }).database.namespace
}
