/** Lists the values that fields of the configuration can name: entities of the effective configuration, and enumerations. Pure. */
import type { Snapshot } from "../../config/Snapshot.ts"
import { entityKinds, entityLocations } from "../../config/revisions/Entities.ts"
import type { EntityKind } from "../../config/revisions/Entities.ts"
import { concepts, listNames } from "../../domain/Vocabulary.ts"

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const listEntityNames = ({ document }: Snapshot, kind: EntityKind): ReadonlyArray<string> => {
  const { at, form, nameField = "" } = entityLocations[kind]
  let found: unknown = document
  for (const part of at) found = isRecord(found) ? found[part] : undefined
  if (Array.isArray(found) && form !== "map")
    return found.flatMap((item) => {
      const name: unknown = isRecord(item) ? item[nameField] : undefined
      return typeof name === "string" ? [name] : []
    })
  return isRecord(found) ? Object.keys(found) : []
}

/** Returns undefined if there is no such source. */
export const listOptions = (snapshot: Snapshot, source: string): ReadonlyArray<string> | undefined => {
  const kind = entityKinds.find((name) => name === source)
  if (kind !== undefined) return listEntityNames(snapshot, kind).toSorted()
  const concept = concepts.find((name) => name === source)
  return concept === undefined ? undefined : listNames(concept)
}
