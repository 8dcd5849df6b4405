/**
 * Finds values of the database's document that only the file may set: they name programs, files, folders or credentials of the nodes, or end
 * the isolation of what the nodes execute. Who edits the configuration must not thereby control the nodes. Pure.
 */
import { Redacted } from "effect"
import type { FileOnly } from "../fields/Field.ts"
import type { Path } from "../document/Path.ts"
import { isRecord, valueAt } from "../document/Path.ts"
import { named } from "../credentials/SealedPlaces.ts"
import type { SealedLocation } from "../credentials/Sealing.ts"
import type { Shape } from "../fields/Shape.ts"
import type { DatabaseDocument } from "./DatabaseDocument.ts"
import { listEntities } from "./DatabaseDocument.ts"
import { entityShape, formatRef, globalsShape } from "./Entities.ts"
import { makeFindInFile } from "./Overlay.ts"
import type { Reason } from "../../domain/Reason.ts"

interface FileOnlyProblem {
  readonly code: "owned_by_file"
  /** Entity such as `triggers/main`, or `globals`. */
  readonly entity: string
  /** Field in the entity, part by part. */
  readonly field: ReadonlyArray<string>
  readonly reason: Reason
}

interface Found {
  readonly path: Path
  readonly rule: FileOnly
  readonly value: unknown
}

/**
 * Returns the plain text of a credential of the document, to which the rules apply like to any value; undefined if it cannot be opened, so
 * that it is never used. `field`: as in SealedLocation.
 */
type ReadSecret = (
  secret: Redacted.Redacted<unknown>,
  place: Pick<SealedLocation, "entity" | "field">
) => string | undefined

/** Returns each value that only the file may set, and that no value of the normalised file hides. */
export const fileOnlyProblems = (
  { entities, globals }: DatabaseDocument,
  file: unknown,
  readSecret: ReadSecret
): ReadonlyArray<FileOnlyProblem> => {
  const findInFile = makeFindInFile(file)
  return [
    ...problemsIn({ entity: "globals", shape: globalsShape(), value: globals }, readSecret, (path) =>
      isHidden(file, path)
    ),
    ...listEntities({ entities, globals })
      .filter((ref) => findInFile(ref) === undefined)
      .flatMap(({ value, ...ref }) =>
        problemsIn({ entity: formatRef(ref), shape: entityShape(ref.kind), value }, readSecret, () => false)
      )
  ]
}

/** Returns whether the file has this field, or a list around it, which replaces that of the database. */
const isHidden = (file: unknown, path: Path): boolean =>
  path.some((_, length) => {
    const value = valueAt(file, path.slice(0, length + 1))
    return value !== undefined && (!isRecord(value) || length === path.length - 1)
  })

interface Part {
  readonly entity: string
  readonly shape: Shape
  readonly value: unknown
}

const problemsIn = (
  { entity, shape, value: whole }: Part,
  readSecret: ReadSecret,
  isIgnored: (path: Path) => boolean
): ReadonlyArray<FileOnlyProblem> =>
  findIn(shape, whole, []).flatMap(({ path, rule, value }) => {
    const field = named(whole, path)
    const plain = Redacted.isRedacted(value) ? readSecret(value, { entity, field: field.join(".") }) : value
    if (plain === undefined || isIgnored(path) || rule.applies?.(plain) === false) return []
    return [{ code: "owned_by_file", entity, field, reason: { _tag: "FileOnly", why: rule.because } }]
  })

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
        const here = rule === undefined ? [] : [{ path: at, rule, value: inner }]
        const next = field?.shape ?? shape.rest
        return next === undefined ? here : [...here, ...findIn(next, inner, at)]
      })
    default:
      return []
  }
}
