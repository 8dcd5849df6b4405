/** Checks the names of query parameters, so that a misspelt filter is not ignored. Pure. */
import { isStorable } from "../../domain/Text.ts"
import { invalidAll } from "../api/Problems.ts"
import type { BadRequest } from "../api/Problems.ts"
import type { Reason } from "../../domain/Reason.ts"

const problemOf = (query: URLSearchParams, name: string, known: ReadonlyArray<string>): Reason | undefined => {
  if (!known.includes(name))
    return known.length === 0 ? { _tag: "ParameterNotTaken" } : { _tag: "ParameterUnknown", names: known }
  if (query.getAll(name).length > 1) return { _tag: "GivenTwice" }
  return isStorable(query.get(name) ?? "") ? undefined : { _tag: "TextNotStorable" }
}

/** Returns the error of a query; undefined if each parameter is known and given once. */
export const checkQuery = (query: URLSearchParams, known: ReadonlyArray<string>): BadRequest | undefined => {
  const [first, ...others] = [...new Set(query.keys())].flatMap((name) => {
    const reason = problemOf(query, name, known)
    return reason === undefined ? [] : [{ path: name.slice(0, 100), reason }]
  })
  return first === undefined ? undefined : invalidAll([first, ...others])
}

/** Returns the parameters that have a value. An empty one counts as missing. */
export const withoutEmpty = (query: URLSearchParams): Record<string, string> =>
  Object.fromEntries([...query].filter(([, value]) => value !== ""))
