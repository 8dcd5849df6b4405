/**
 * Finds values of the database's document that only the file may set: they name programs, files, folders or credentials of the nodes, or end
 * the isolation of what the nodes execute. Who edits the configuration must not thereby control the nodes. Pure.
 */
import type { FileOnly } from "../Field.ts"
import type { Path } from "../Path.ts"
import { isRecord, valueAt } from "../Path.ts"
import { named } from "../SealedPlaces.ts"
import type { Shape } from "../Shape.ts"
import type { DatabaseDocument } from "./DatabaseDocument.ts"
import { listEntities } from "./DatabaseDocument.ts"
import { entityShape, formatRef, globalsShape } from "./Entities.ts"
import { makeFindInFile } from "./Overlay.ts"

export interface FileOnlyProblem {
  readonly code: "owned_by_file"
  /** Entity such as `triggers/main`, or `globals`. */
  readonly entity: string
  /** Field in the entity, part by part. */
  readonly field: ReadonlyArray<string>
  readonly message: string
}

interface Found {
  readonly path: Path
  readonly rule: FileOnly
}

/** Returns each value that only the file may set, and that no value of the normalised file hides. */
export const fileOnlyProblems = (
  { entities, globals }: DatabaseDocument,
  file: unknown
): ReadonlyArray<FileOnlyProblem> => {
  const findInFile = makeFindInFile(file)
  return [
    ...problemsIn("globals", globalsShape(), globals, (path) => isHidden(file, path)),
    ...listEntities({ entities, globals })
      .filter((ref) => findInFile(ref) === undefined)
      .flatMap(({ value, ...ref }) => problemsIn(formatRef(ref), entityShape(ref.kind), value, () => false))
  ]
}

/** Returns whether the file has this field, or a list around it, which replaces that of the database. */
const isHidden = (file: unknown, path: Path): boolean =>
  path.some((_, length) => {
    const value = valueAt(file, path.slice(0, length + 1))
    return value !== undefined && (!isRecord(value) || length === path.length - 1)
  })

const problemsIn = (
  entity: string,
  shape: Shape,
  value: unknown,
  isIgnored: (path: Path) => boolean
): ReadonlyArray<FileOnlyProblem> =>
  findIn(shape, value, [])
    .filter(({ path }) => !isIgnored(path))
    .map(({ path, rule }) => ({
      code: "owned_by_file",
      entity,
      field: named(value, path),
      message: `this can only be set in the configuration file, because it ${rule.because}; remove it here, or move the entity into the file`
    }))

const findIn = (shape: Shape, value: unknown, path: Path): ReadonlyArray<Found> => {
  switch (shape.type) {
    case "union":
      return shape.members.flatMap((member) => findIn(member, value, path))
    case "list":
      return Array.isArray(value) ? value.flatMap((item, index) => findIn(shape.item, item, [...path, index])) : []
    case "object":
      if (!isRecord(value)) return []
      return Object.entries(value).flatMap(([key, inner]) => {
        const field = shape.fields.get(key)
        const at = [...path, key]
        const rule = field?.meta.fileOnly
        if (rule !== undefined && (rule.applies?.(inner) ?? true)) return [{ path: at, rule }]
        const next = field?.shape ?? shape.rest
        return next === undefined ? [] : findIn(next, inner, at)
      })
    default:
      return []
  }
}
