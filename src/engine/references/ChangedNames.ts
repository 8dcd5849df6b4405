/**
 * Names that other files may use and whose definition a change alters or removes, by the definitions of a file before and after
 * it. `PublicNames.js` has what is public. Pure.
 */
import type { ListedDefinition } from "../syntax/Definition.ts"

export interface ChangedName {
  readonly name: string
  readonly change: "changed" | "removed"
}

/** Definitions of a file on each side of the change; empty on the side without it. */
interface DefinedSides {
  readonly before: ReadonlyArray<ListedDefinition>
  readonly after: ReadonlyArray<ListedDefinition>
}

/** Returns the names of a file, in the order of the file before the change. */
export const changedNames = ({ before, after }: DefinedSides): ReadonlyArray<ChangedName> => {
  const now = Map.groupBy(after, ({ key }) => key)
  const found = new Map<string, ChangedName>()
  for (const { isPublic, key, name, signature } of before) {
    const same = now.get(key) ?? []
    if (same.some((other) => other.signature === signature)) continue
    if (name === undefined || found.has(name) || !isPublic) continue
    found.set(name, { name, change: same.length === 0 ? "removed" : "changed" })
  }
  return [...found.values()]
}

/** Returns the names that a file defines only after the change. A name that another file no longer has moved here. */
export const addedNames = ({ before, after }: DefinedSides): ReadonlyArray<string> => {
  const known = new Set(before.map(({ key }) => key))
  return after.flatMap(({ key, name }) => (known.has(key) ? [] : (name ?? [])))
}
