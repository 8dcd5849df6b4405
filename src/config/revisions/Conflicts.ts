/**
 * Whether edits of an older revision still apply to the head: they do unless they touch a field that changed since, or an entity that was
 * created, deleted or renamed since. Pure.
 */
import type { Difference } from "../Diff.ts"
import { diff } from "../Diff.ts"
import { valueAt } from "../document/Path.ts"
import { positions } from "../credentials/SealedPlaces.ts"
import { masked } from "../Show.ts"
import type { DatabaseDocument } from "./DatabaseDocument.ts"
import { listEntities } from "./DatabaseDocument.ts"
import { formatRef } from "./Entities.ts"
import type { Conflict } from "./Revision.ts"
import type { ConfigOperation } from "./Operations.ts"

/** A field, part by part: `["triggers/main", "token"]`, `["globals", "review", "max_passes"]`; one part is the whole entity. */
type FieldName = ReadonlyArray<string>

/** Returns what an operation reads or writes. */
const touchedBy = (operation: ConfigOperation): ReadonlyArray<FieldName> => {
  const entity = operation.entity === undefined ? "globals" : formatRef(operation.entity)
  switch (operation.op) {
    case "create":
    case "delete":
    case "update":
      return [[entity]]
    case "rename":
      return [[entity], [formatRef({ ...operation.entity, name: operation.to })]]
    case "set_enabled":
      return [[entity, "enabled"]]
    case "set":
    case "unset":
      return [[entity, ...operation.path]]
  }
}

/** Returns what differs between two documents, by entity. */
export const differences = (before: DatabaseDocument, after: DatabaseDocument): ReadonlyArray<Difference> =>
  diff(byEntity(before), byEntity(after))

interface Edited {
  readonly base: DatabaseDocument
  readonly head: DatabaseDocument
  /** Result of the operations on the base. */
  readonly yours: DatabaseDocument
}

export const findConflicts = (operations: ReadonlyArray<ConfigOperation>, edit: Edited): ReadonlyArray<Conflict> => {
  const touched = operations.flatMap(touchedBy)
  const yours = byEntity(edit.yours)
  return differences(edit.base, edit.head)
    .filter(({ names }) => touched.some((path) => overlap(path, names)))
    .map(({ names, before, after }) => ({
      path: names,
      base: before,
      head: after,
      yours: masked(atNames(yours, names))
    }))
}

/** Returns whether one path contains the other. */
const overlap = (left: FieldName, right: FieldName): boolean => {
  const length = Math.min(left.length, right.length)
  return left.slice(0, length).every((part, index) => part === right[index])
}

const atNames = (tree: unknown, names: FieldName): unknown => {
  const holder = positions(tree, names.slice(0, -1))
  return holder === undefined ? undefined : valueAt(tree, [...holder, names.at(-1) ?? ""])
}

const byEntity = (document: DatabaseDocument): Readonly<Record<string, unknown>> => ({
  globals: document.globals,
  ...Object.fromEntries(listEntities(document).map(({ kind, name, value }) => [formatRef({ kind, name }), value]))
})
