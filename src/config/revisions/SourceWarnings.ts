/** Warns of what has no effect where the file and the database meet: hidden entities and fields, and grants that nothing uses. Pure. */
import type { ConfigIssue } from "../ConfigIssue.ts"
import type { ParsedFile } from "../LayeredFile.ts"
import type { Path } from "../document/Path.ts"
import { formatPath } from "../document/Path.ts"
import type { DatabaseDocument } from "./DatabaseDocument.ts"
import { formatRef } from "./Entities.ts"
import { unusedGrants } from "./Grants.ts"
import { makeFindInFile, overlay } from "./Overlay.ts"
import type { Reason } from "../../domain/Reason.ts"

export const listSourceWarnings = (
  { file, baseline, locate }: ParsedFile,
  document: DatabaseDocument
): ReadonlyArray<ConfigIssue> => {
  const { shadowed, shadowedGlobals, tree } = overlay(baseline.file, document)
  const findInFile = makeFindInFile(baseline.file)
  const warn = (path: Path, reason: Reason): ConfigIssue => ({
    severity: "warning",
    path: formatPath(path),
    reason,
    file,
    ...locate(path, "key")
  })
  return [
    ...shadowed.map((ref) => warn(findInFile(ref) ?? [], { _tag: "HidesEntity", entity: formatRef(ref) })),
    ...shadowedGlobals.map((path) => warn(path, { _tag: "HidesValue" })),
    ...unusedGrants(tree, baseline.file).map(({ path, reason }) => warn(path, reason))
  ]
}
