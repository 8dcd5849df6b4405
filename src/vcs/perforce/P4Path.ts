/** Paths of depots, in depot syntax, and of the files below a branch, in plain names. Pure. */
import { decodeName } from "../../domain/DepotPath.ts"
import { CheckoutError } from "../Checkout.ts"
import { shownText } from "./RawText.ts"

/** `//depot/main/...` is `//depot/main`. */
export const cleanRoot = (path: string): string => path.replace(/\/?\.\.\.$/, "").replace(/(?<!\/)\/+$/, "")

/** Refuses paths that p4 would read as an option, a revision or a pattern. */
export const checkRoot = (path: string): CheckoutError | undefined =>
  /^\/\/[^/@#*\p{Cc}]+(?:\/[^/@#*\p{Cc}]+)*$/u.test(path) && !path.includes("...") && path.length <= 4096
    ? undefined
    : new CheckoutError({ reason: "failed", why: { _tag: "InvalidDepotPath", path } })

/** Returns the path below the branch in plain names; undefined for a file elsewhere. */
export const belowDepot = (branch: string, depotFile: string, fold: boolean): string | undefined => {
  const prefix = `${branch}/`
  const start = depotFile.slice(0, prefix.length)
  const isBelow = fold ? start.toLowerCase() === prefix.toLowerCase() : start === prefix
  return isBelow ? shownText(decodeName(depotFile.slice(prefix.length))) : undefined
}
