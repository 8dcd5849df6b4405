/** Finds the names that entities had before a changeset renamed them. Pure. */
import type { EntityKind } from "./Entities.ts"
import { entityKinds, entityLocations } from "./Entities.ts"
import type { ConfigOperation } from "./Operations.ts"

export interface Rename {
  readonly kind: EntityKind
  readonly from: string
  readonly to: string
}

/** Returns the renames of a changeset, in order. */
export const listRenames = (operations: ReadonlyArray<ConfigOperation>): ReadonlyArray<Rename> =>
  operations.flatMap((operation) =>
    operation.op === "rename" ? [{ kind: operation.entity.kind, from: operation.entity.name, to: operation.to }] : []
  )

/** Returns the name that an entity had before the renames: its own if it has none. */
export const formerName = (renames: ReadonlyArray<Rename>, kind: EntityKind, name: string): string =>
  renames.reduceRight(
    (current, rename) => (rename.kind === kind && rename.to === current ? rename.from : current),
    name
  )

/** Returns the names of a field of the combined document before the renames. */
export const formerNames = (renames: ReadonlyArray<Rename>, names: ReadonlyArray<string>): ReadonlyArray<string> => {
  for (const kind of entityKinds) {
    const { at } = entityLocations[kind]
    const name = names[at.length]
    if (name !== undefined && at.every((part, index) => part === names[index]))
      return names.with(at.length, formerName(renames, kind, name))
  }
  return names
}
