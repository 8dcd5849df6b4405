/** Work on files of the head that managed issues name: whether they still have the code, and how the change touches their paths. */
import { endedKeys, heldKeys } from "../../review/CodeKey.ts"
import type { ReadState } from "./ReadState.ts"

interface IssuePaths {
  /** Named paths that the change touches. */
  readonly changed: ReadonlyArray<string>
  /** Named paths that the change removes, renames included. */
  readonly removed: ReadonlyArray<string>
  /** New paths of named files that the change renames. */
  readonly renamed: ReadonlyArray<readonly [from: string, to: string]>
  /** Paths that the change adds; undefined if there are more than the limit. */
  readonly added: ReadonlyArray<string> | undefined
}

export const makeIssueCodeWork = ({ comparison }: ReadState) => ({
  issuePaths: (named: ReadonlyArray<string>, maxAdded: number): IssuePaths => {
    const wanted = new Set(named)
    const touched = comparison.listed.filter(({ path }) => wanted.has(path))
    const renamed = comparison.files.flatMap(({ status, path, oldPath }): IssuePaths["renamed"] =>
      status === "renamed" && oldPath !== undefined && wanted.has(oldPath) ? [[oldPath, path]] : []
    )
    const added = comparison.listed.flatMap(({ path, status }) => (status === "added" ? [path] : []))
    return {
      changed: touched.map(({ path }) => path),
      removed: touched.flatMap(({ path, status }) => (status === "deleted" ? [path] : [])),
      renamed,
      added: added.length > maxAdded ? undefined : added
    }
  },
  endedKeys,
  heldKeys
})
