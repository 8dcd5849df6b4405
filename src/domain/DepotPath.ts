/** Names of files in Perforce. In depot syntax `@`, `#`, `%` and `*` of a name are encoded; paths of a review have the plain names. Pure. */

const encoded: Readonly<Record<string, string>> = { "@": "%40", "#": "%23", "%": "%25", "*": "%2A" }
const plain: Readonly<Record<string, string>> = { "40": "@", "23": "#", "25": "%", "2A": "*" }

export const encodeName = (path: string): string => path.replace(/[@#%*]/g, (char) => encoded[char] ?? char)
export const decodeName = (path: string): string =>
  path.replace(/%(40|23|25|2A)/gi, (whole, code: string) => plain[code.toUpperCase()] ?? whole)

/** Returns the depot syntax of a path below a branch. */
export const joinDepot = (branch: string, path: string): string =>
  path === "" ? branch : `${branch}/${encodeName(path)}`
