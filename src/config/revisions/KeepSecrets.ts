/**
 * Carries credentials over when the value of an entity is replaced: one that is omitted keeps its stored value, null clears it, and so
 * does the name of a variable in its place. Pure.
 */
import { valueAt, withValueAt } from "../document/Path.ts"
import type { Path } from "../document/Path.ts"
import { named, positions } from "../credentials/SealedPlaces.ts"
import type { Shape } from "../fields/Shape.ts"
import { asWritten } from "../document/Written.ts"
import { secretPaths } from "./EditValue.ts"

/** Returns the names of each stored credential that the new value omits, without a variable in its place. */
export const omittedSecrets = (stored: unknown, next: unknown): ReadonlyArray<ReadonlyArray<string>> =>
  secretPaths(stored).flatMap((path) => {
    const names = named(stored, path)
    const holder = positions(next, names.slice(0, -1))
    const field = path.at(-1)
    if (holder === undefined || typeof field !== "string") return []
    const isSet = [field, `${field}_env`].some((name) => valueAt(next, [...holder, name]) !== undefined)
    return isSet ? [] : [names]
  })

/**
 * Returns the new value with the credentials that it keeps. `written` is the new value as received, in which null is still visible;
 * `next` is its normalised form.
 */
export const keepSecrets = (shape: Shape, stored: unknown, written: unknown, next: unknown): unknown =>
  secretPaths(stored).reduce((value, path) => {
    const holder = positions(value, named(stored, path).slice(0, -1))
    const field = path.at(-1)
    if (holder === undefined || typeof field !== "string") return value
    const target = [...holder, field]
    return isOmitted(shape, written, value, target) ? withValueAt(value, target, valueAt(stored, path)) : value
  }, next)

const isOmitted = (shape: Shape, written: unknown, value: unknown, target: Path): boolean => {
  const variable = [...target.slice(0, -1), `${String(target.at(-1))}_env`]
  return (
    valueAt(value, target) === undefined &&
    valueAt(value, variable) === undefined &&
    valueAt(written, asWritten(shape, written, target)) !== null
  )
}
