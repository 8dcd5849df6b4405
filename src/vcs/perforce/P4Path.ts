/** Paths of depots. In depot syntax `@`, `#`, `%` and `*` of a name are encoded; paths of a review have the plain names. Pure. */
import { CheckoutError } from "../Checkout.ts"

const encoded: Readonly<Record<string, string>> = { "@": "%40", "#": "%23", "%": "%25", "*": "%2A" }
const plain: Readonly<Record<string, string>> = { "40": "@", "23": "#", "25": "%", "2A": "*" }

export const encodeName = (path: string): string => path.replace(/[@#%*]/g, (char) => encoded[char] ?? char)
export const decodeName = (path: string): string =>
  path.replace(/%(40|23|25|2A)/gi, (whole, code: string) => plain[code.toUpperCase()] ?? whole)

/** `//depot/main/...` is `//depot/main`. */
export const cleanRoot = (path: string): string => path.replace(/\/?\.\.\.$/, "").replace(/(?<!\/)\/+$/, "")

/** Refuses paths that p4 would read as an option, a revision or a pattern. */
export const checkRoot = (path: string): CheckoutError | undefined =>
  /^\/\/[^/@#*\p{Cc}]+(?:\/[^/@#*\p{Cc}]+)*$/u.test(path) && !path.includes("...") && path.length <= 4096
    ? undefined
    : new CheckoutError({ reason: "failed", message: `invalid depot path "${path}"; expected //depot/path/...` })

/** Depot syntax of a path below a branch. */
export const joinDepot = (branch: string, path: string): string =>
  path === "" ? branch : `${branch}/${encodeName(path)}`

/** Returns the path below the branch in plain names; undefined for a file elsewhere. */
export const belowDepot = (branch: string, depotFile: string, fold: boolean): string | undefined => {
  const prefix = `${branch}/`
  const start = depotFile.slice(0, prefix.length)
  const isBelow = fold ? start.toLowerCase() === prefix.toLowerCase() : start === prefix
  return isBelow ? decodeName(depotFile.slice(prefix.length)) : undefined
}
