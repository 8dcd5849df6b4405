/**
 * Checks credentials that are files of this machine, which a document names without a variable: a profile of AWS, the path of a key. The database
 * may use them at the provider's own address, but not send them to another one. Pure.
 */
import { Redacted } from "effect"
import { isDeepStrictEqual } from "node:util"
import type { Path } from "../Path.ts"
import { formatPath, isRecord, valueAt } from "../Path.ts"
import { isSealed } from "../Sealing.ts"
import { named } from "../SealedPlaces.ts"
import { destinationAt } from "./Destinations.ts"
import type { GrantProblem } from "./Grants.ts"

/** Returns whether a key is the path of its file. A sealed one was checked when it was entered. */
const isPathOfKey = (value: unknown): boolean => {
  const text = Redacted.isRedacted(value) ? Redacted.value(value) : value
  return typeof text === "string" && text.trim() !== "" && !text.trim().startsWith("{") && !isSealed(text)
}

const isText = (value: unknown): boolean => typeof value === "string"

interface LocalField {
  readonly list: Path
  readonly field: Path
  readonly isLocal: (value: unknown) => boolean
}

const localFields: ReadonlyArray<LocalField> = [
  { list: ["llm", "providers"], field: ["aws_profile"], isLocal: isText },
  { list: ["llm", "providers"], field: ["google_application_credentials"], isLocal: isPathOfKey },
  { list: ["triggers"], field: ["app", "private_key_path"], isLocal: isText }
]

/** Returns the paths of credentials of this machine whose holder has an address of its own. */
const listUses = (document: unknown): ReadonlyArray<Path> =>
  localFields.flatMap(({ field, isLocal, list }) => {
    const holders = valueAt(document, list)
    if (!Array.isArray(holders)) return []
    return holders.flatMap((holder: unknown, index) =>
      isRecord(holder) && typeof holder["base_url"] === "string" && isLocal(valueAt(holder, field))
        ? [[...list, index, ...field]]
        : []
    )
  })

/** Returns each use of the database. `document` is the combined, normalised document, `file` the normalised file. */
export const redirectedFiles = (document: unknown, file: unknown): ReadonlyArray<GrantProblem> => {
  const ofFile = new Map(listUses(file).map((path) => [JSON.stringify(named(file, path)), destinationAt(file, path)]))
  return listUses(document)
    .filter(
      (path) => !isDeepStrictEqual(ofFile.get(JSON.stringify(named(document, path))), destinationAt(document, path))
    )
    .map((path) => ({
      code: "secret_ref_missing",
      path,
      message: `${formatPath(path)} names a credential of this machine, which the database may not send to base_url; enter the credential itself, name a granted variable, or move the entity into the file`
    }))
}
