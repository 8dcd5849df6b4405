/** Reads a normalised tree that may contain invalid values: values of another type count as absent. */
import type { Path } from "../document/Path.ts"
import { isRecord, valueAt } from "../document/Path.ts"

export interface TreePosition<V> {
  readonly path: Path
  readonly value: V
}
export type Tree = Readonly<Record<string, unknown>>

export const recordAt = (root: unknown, ...path: Path): Tree => {
  const value = valueAt(root, path)
  return isRecord(value) ? value : {}
}

/** Returns the maps of a list at a path, each with its path. */
export const recordsAt = (root: unknown, ...path: Path): ReadonlyArray<TreePosition<Tree>> => {
  const value = valueAt(root, path)
  return Array.isArray(value)
    ? value.flatMap((item: unknown, index) => (isRecord(item) ? [{ path: [...path, index], value: item }] : []))
    : []
}

/** Returns the maps of a map at a path, each with its path. */
export const entriesAt = (root: unknown, ...path: Path): ReadonlyArray<TreePosition<Tree> & { readonly key: string }> =>
  Object.entries(recordAt(root, ...path)).flatMap(([key, value]) =>
    isRecord(value) ? [{ key, path: [...path, key], value }] : []
  )

export const textAt = (root: unknown, ...path: Path): string | undefined => {
  const value = valueAt(root, path)
  return typeof value === "string" ? value : undefined
}

/** Returns the texts of a list at a path, or the one text there. */
export const textsAt = (root: unknown, ...path: Path): ReadonlyArray<TreePosition<string>> => {
  const value = valueAt(root, path)
  if (typeof value === "string") return [{ path, value }]
  return Array.isArray(value)
    ? value.flatMap((item: unknown, index) =>
        typeof item === "string" ? [{ path: [...path, index], value: item }] : []
      )
    : []
}
