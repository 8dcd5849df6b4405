/** Determines the permissions that reviews need and a GitLab token lacks. Pure. */
import type { Reason } from "../../domain/Reason.ts"
import { developer } from "./Facts.ts"

/** `scopes` is undefined for a token that cannot read its own record. */
export const missingOfScopes = (scopes: ReadonlyArray<string> | undefined): ReadonlyArray<Reason> =>
  scopes === undefined || scopes.includes("api")
    ? []
    : [{ _tag: "TokenLacksApi", has: scopes.length === 0 ? { _tag: "NoScope" } : { _tag: "HasScopes", scopes } }]

/** `level` is the higher of the account's roles in the project and its group; undefined where it is a member of neither. */
export const missingOfRole = (level: number | undefined): ReadonlyArray<Reason> => {
  if (level !== undefined && level >= developer) return []
  return [{ _tag: "RoleTooLow", role: { _tag: level === undefined ? "NotAMember" : "BelowDeveloper" } }]
}
