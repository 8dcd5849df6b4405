/**
 * Names of a branch: of a stream of Perforce, and of Subversion by the customary layout: `trunk`, `branches/NAME` and `tags/NAME`, in the root or in a folder per
 * project. Pure.
 */

export const layoutFolders: ReadonlySet<string> = new Set(["trunk", "branches", "tags"])

/**
 * Returns the names under which the configuration may list a branch: `web/branches/1.x`, `branches/1.x`, `1.x`; `trunk`. A folder in a
 * branch has the names of that branch too.
 */
export const listBranchNames = (branch: string): ReadonlyArray<string> => {
  const parts = branch.split("/")
  const at = parts.findIndex((part) => layoutFolders.has(part))
  if (at < 0) return branch === "" ? [] : [branch]
  const end = parts[at] === "trunk" ? at + 1 : at + 2
  const names = [parts, parts.slice(0, end)].flatMap((one) => [
    one.join("/"),
    one.slice(at).join("/"),
    ...(parts[at] === "trunk" ? [] : [one.slice(at + 1).join("/")])
  ])
  return [...new Set(names)].filter((one) => one !== "")
}

/** Returns the names under which the configuration may list a stream or a depot path: `//game/main`, `game/main`, `main`. */
export const listStreamNames = (branch: string): ReadonlyArray<string> => {
  const path = branch.replace(/^\/\//, "")
  const below = path.split("/").slice(1).join("/")
  return [...new Set([branch, path, below, path.split("/").at(-1) ?? ""])].filter((one) => one !== "")
}
