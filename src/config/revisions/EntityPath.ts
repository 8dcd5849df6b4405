/** Finds the entity that a path of the combined document belongs to. Pure. */
import { parsePath, valueAt } from "../document/Path.ts"
import { named } from "../credentials/SealedPlaces.ts"
import type { DatabaseDocument } from "./DatabaseDocument.ts"
import type { EntityField } from "./Entities.ts"
import { entityField, entityLocations } from "./Entities.ts"
import { overlay } from "./Overlay.ts"
import type { Tree } from "../checks/Tree.ts"

const { at: rulesAt } = entityLocations.routes

/**
 * Replaces the position of a route rule of the database by its name. Rules of the file come first, then the others in the order of their names,
 * which is that of `routes`.
 */
export const withRouteName = (
  file: unknown,
  names: ReadonlyArray<string>,
  routes: ReadonlyArray<string>
): ReadonlyArray<string> => {
  const index = rulesAt.every((part, at) => part === names[at]) ? Number(names[rulesAt.length]) : Number.NaN
  const ofFile = valueAt(file, rulesAt)
  const name = routes[index - (Array.isArray(ofFile) ? ofFile.length : 0)]
  return name === undefined ? names : names.with(rulesAt.length, name)
}

export type EntityAt = (path: string) => EntityField

/** Returns the function that finds the entity and the field that an issue is about, by its path in the file combined with the document. */
export const makeEntityAt = (file: Tree, document: DatabaseDocument): EntityAt => {
  let tree: Tree | undefined
  const routes = Object.keys(document.entities.routes).toSorted()
  return (path) => {
    tree ??= overlay(file, document).tree
    return entityField(withRouteName(file, named(tree, parsePath(path)), routes))
  }
}
