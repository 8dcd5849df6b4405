/**
 * Names of a branch of Subversion by the customary layout: `trunk`, `branches/NAME` and `tags/NAME`, in the root or in a folder per
 * project. Pure.
 */

export const layoutFolders: ReadonlySet<string> = new Set(["trunk", "branches", "tags"])

/** Returns the names under which the configuration may list a branch: `web/branches/1.x`, `branches/1.x`, `1.x`; `trunk`. */
export const listBranchNames = (branch: string): ReadonlyArray<string> => {
  const parts = branch.split("/")
  const at = parts.findIndex((part) => layoutFolders.has(part))
  const name = at < 0 || parts[at] === "trunk" ? [] : [parts.slice(at + 1).join("/")]
  return [...new Set([branch, parts.slice(Math.max(0, at)).join("/"), ...name])].filter((one) => one !== "")
}
