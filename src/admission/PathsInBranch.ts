/** Converts paths of a repository to paths of one of its branches. Pure. */

/**
 * Returns the paths below the branch, relative to it; none for a path that contains the whole branch, which restricts nothing there. Other
 * paths are unchanged: they may be relative to every branch.
 */
export const pathsInBranch = (paths: ReadonlyArray<string>, branch: string): ReadonlyArray<string> => {
  const clean = paths.map((path) => path.replace(/\/?\.\.\.$/, "").replace(/(?<!\/)\/+$/, ""))
  if (branch === "" || clean.some((path) => path === branch || branch.startsWith(`${path}/`)))
    return branch === "" ? clean : []
  return clean.map((path) => (path.startsWith(`${branch}/`) ? path.slice(branch.length + 1) : path))
}
