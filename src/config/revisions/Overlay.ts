/**
 * Combines the file with the database's document: the file wins per entity, and per field of the globals. An entity of the database with the
 * name of one in the file is shadowed: kept, without effect. Pure.
 */
import type { Path } from "../document/Path.ts"
import { isRecord, valueAt, withValueAt } from "../document/Path.ts"
import type { Tree } from "../checks/Tree.ts"
import type { DatabaseDocument } from "./DatabaseDocument.ts"
import type { EntityKind, EntityLocation, EntityRef } from "./Entities.ts"
import { entityKinds, entityLocations } from "./Entities.ts"

interface Overlaid {
  /** Normalised document, ready to be decoded. */
  readonly tree: Tree
  /** Entities and global fields of the database that the file hides. */
  readonly shadowed: ReadonlyArray<EntityRef>
  readonly shadowedGlobals: ReadonlyArray<Path>
}

/** Returns the names of the entities that a normalised file declares. A file's route rules have no names and hide none. */
export const ownedByFile = (file: unknown, kind: EntityKind): ReadonlyArray<string> => {
  const { at, form, nameField } = entityLocations[kind]
  const collection = valueAt(file, at)
  if (form === "map") return isRecord(collection) ? Object.keys(collection) : []
  if (nameField === undefined || !Array.isArray(collection)) return []
  return collection.flatMap((item: unknown) => {
    const name = isRecord(item) ? item[nameField] : undefined
    return typeof name === "string" ? [name] : []
  })
}

export type FindInFile = (ref: EntityRef) => Path | undefined

/** Returns the function that finds the path of an entity in a normalised file, which reads the file once, however many entities it finds. */
export const makeFindInFile = (file: unknown): FindInFile => {
  const known = new Map<EntityKind, ReadonlyMap<string, number>>()
  const indexOf = (kind: EntityKind): ReadonlyMap<string, number> => {
    const index = known.get(kind) ?? indexNames(ownedByFile(file, kind))
    known.set(kind, index)
    return index
  }
  return ({ kind, name }) => {
    const { at, form } = entityLocations[kind]
    const index = indexOf(kind).get(name)
    return index === undefined ? undefined : [...at, form === "map" ? name : index]
  }
}

/** Returns the first position of each name. */
const indexNames = (names: ReadonlyArray<string>): ReadonlyMap<string, number> =>
  new Map(names.map((name, index) => [name, index] as const).toReversed())

export const overlay = (file: Tree, database: DatabaseDocument): Overlaid => {
  const shadowed: Array<EntityRef> = []
  const shadowedGlobals: Array<Path> = []
  const globals = mergeGlobals(database.globals, file, [], (path) => shadowedGlobals.push(path))
  const tree = entityKinds.reduce<Tree>((into, kind) => {
    const owned = new Set(ownedByFile(file, kind))
    const entries = Object.entries(database.entities[kind])
    for (const [name] of entries) if (owned.has(name)) shadowed.push({ kind, name })
    const visible = entries.filter(([name]) => !owned.has(name))
    return visible.length === 0 ? into : withCollection(into, entityLocations[kind], visible)
  }, globals)
  return { tree, shadowed, shadowedGlobals }
}

/** Merges maps field by field; lists and scalars of the file replace those of the database. */
const mergeGlobals = (lower: Tree, upper: Tree, path: Path, shadow: (path: Path) => void): Tree => {
  const merged: Record<string, unknown> = { ...lower, ...upper }
  for (const key of Object.keys(lower)) {
    if (!Object.hasOwn(upper, key)) continue
    const [below, above] = [lower[key], upper[key]]
    if (isRecord(below) && isRecord(above)) merged[key] = mergeGlobals(below, above, [...path, key], shadow)
    else shadow([...path, key])
  }
  return merged
}

const withCollection = (
  tree: Tree,
  { at, form, nameField }: EntityLocation,
  entries: ReadonlyArray<readonly [string, unknown]>
): Tree => {
  const existing = valueAt(tree, at)
  if (form === "map")
    return withRecordAt(tree, at, { ...Object.fromEntries(entries), ...(isRecord(existing) ? existing : {}) })
  const ordered = form === "ordered" ? entries.toSorted(([a], [b]) => (a < b ? -1 : 1)) : entries
  const items = ordered.map(([name, value]) =>
    nameField !== undefined && isRecord(value) ? { ...value, [nameField]: name } : value
  )
  return withRecordAt(tree, at, [...(Array.isArray(existing) ? existing : []), ...items])
}

const withRecordAt = (tree: Tree, at: Path, value: unknown): Tree => {
  const next = withValueAt(tree, at, value)
  return isRecord(next) ? next : tree
}
