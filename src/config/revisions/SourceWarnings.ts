/** Warns of what has no effect where the file and the database meet: hidden entities and fields, and grants that nothing uses. Pure. */
import type { ConfigIssue } from "../ConfigIssue.ts"
import type { ParsedFile } from "../LayeredFile.ts"
import type { Path } from "../Path.ts"
import { formatPath } from "../Path.ts"
import type { DatabaseDocument } from "./DatabaseDocument.ts"
import { formatRef } from "./Entities.ts"
import { unusedGrants } from "./Grants.ts"
import { makeFindInFile, overlay } from "./Overlay.ts"

export const listSourceWarnings = (
  { file, ground, locate }: ParsedFile,
  document: DatabaseDocument
): ReadonlyArray<ConfigIssue> => {
  const { shadowed, shadowedGlobals, tree } = overlay(ground.file, document)
  const findInFile = makeFindInFile(ground.file)
  const warn = (path: Path, message: string): ConfigIssue => ({
    severity: "warning",
    path: formatPath(path),
    message,
    file,
    ...locate(path, "key")
  })
  return [
    ...shadowed.map((ref) =>
      warn(findInFile(ref) ?? [], `hides ${formatRef(ref)} of the database, which has no effect; delete one of them`)
    ),
    ...shadowedGlobals.map((path) =>
      warn(path, "hides the value of the database, which has no effect; remove one of them")
    ),
    ...unusedGrants(tree, ground.file).map(({ message, path }) => warn(path, message))
  ]
}
