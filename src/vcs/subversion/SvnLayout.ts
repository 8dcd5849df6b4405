/**
 * Finds the branch of a path by the customary layout: `trunk`, `branches/NAME` and `tags/NAME`, in the root or in a folder per project.
 * Paths of a repository without this layout are all of one branch, `""`. Pure.
 */
import { layoutFolders } from "../../domain/BranchNames.ts"

interface SvnBranch {
  /** Path of the branch. */
  readonly branch: string
  /** Path within it. */
  readonly path: string
  readonly tag: boolean
}

/** Folders of projects above the layout. */
const maxProjectDepth = 3

/** Returns undefined for a folder of the layout itself, which has no files of a branch. */
export const findBranch = (path: string): SvnBranch | undefined => {
  const parts = path.split("/")
  const at = parts.findIndex((part) => layoutFolders.has(part))
  if (at < 0 || at > maxProjectDepth) return { branch: "", path, tag: false }
  const kind = parts[at]
  const end = kind === "trunk" ? at + 1 : at + 2
  if (parts.length < end) return undefined
  return { branch: parts.slice(0, end).join("/"), path: parts.slice(end).join("/"), tag: kind === "tags" }
}

/** Returns the branch of a path that is in the longest of the roots, if that is longer than the branch by the layout. */
export const withinRoot = (
  found: SvnBranch | undefined,
  path: string,
  roots: ReadonlyArray<string>
): SvnBranch | undefined => {
  const [root] = roots
    .filter((one) => path === one || path.startsWith(`${one}/`))
    .toSorted((a, b) => b.length - a.length)
  if (root === undefined || found === undefined || root.length <= found.branch.length) return found
  return { branch: root, path: path.slice(root.length + 1), tag: found.tag }
}

/** Returns whether a URL already names a branch: paths below are not searched for the layout. */
export const isBranchUrl = (pathInRepository: string): boolean =>
  pathInRepository !== "" && (findBranch(pathInRepository)?.branch ?? "") !== ""
