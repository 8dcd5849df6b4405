/** Work on a change as a whole: identities of its patches, findings of unchanged files, and credentials in added lines. */
import type { FilePatch } from "../../domain/Analysis.ts"
import type { Finding } from "../../domain/Problem.ts"
import { carry, readPatches } from "../../review/Carry.ts"
import { findCredentials, withoutAllowed } from "../../review/LeakedCredentials.ts"
import type { LeakedCredential } from "../../review/LeakedCredentials.ts"
import { patchIds } from "../../review/PatchId.ts"
import type { ReadState } from "./ReadState.ts"

export const makeCarryWork = (state: ReadState) => {
  let leaked: ReadonlyArray<LeakedCredential> | undefined
  const credentials = () => (leaked ??= findCredentials(state.selected.files))
  const identities = () => (state.ids ??= patchIds(state.selected.files))
  return {
    /**
     * Carries over from an earlier review: positions of the files that are not read again, and the findings in them. With `isWhole` nothing
     * unless no file is to be read again.
     */
    carry: (
      findings: ReadonlyArray<Finding>,
      earlier: ReadonlyArray<FilePatch> | undefined,
      isWhole: boolean
    ): { readonly unchanged: Int32Array; readonly findings: ReadonlyArray<Finding> } => {
      const { files } = state.selected
      const carried = carry(files, identities(), { findings, patches: earlier })
      if (!isWhole || carried.files.length === 0) state.carried = carried
      const unchanged = new Set(state.carried.unchanged)
      return {
        unchanged: Int32Array.from(files.flatMap((file, at) => (unchanged.has(file) ? [at] : []))),
        findings: state.carried.findings
      }
    },
    /** Computes the identities of patches in advance, and returns how many credentials the change adds. */
    inspectLines: (): number => {
      identities()
      return credentials().length
    },
    /** Returns the credentials that the change adds, without those that the list permits. */
    credentials: (allowList: string): ReadonlyArray<LeakedCredential> => withoutAllowed(credentials(), allowList),
    /** Returns the patches to store of the files at these positions. */
    patches: (read: Int32Array, findings: ReadonlyArray<Pick<Finding, "anchor">>): ReadonlyArray<FilePatch> => {
      const files = Array.from(read).flatMap((at) => state.selected.files[at] ?? [])
      return readPatches(files, identities(), findings)
    }
  }
}
