/** Checks the names of query parameters, so that a misspelt filter is not ignored. Pure. */
import { isStorable, notStorable } from "../domain/Text.ts"
import { invalidAll } from "./api/Problems.ts"
import type { BadRequest, RequestIssue } from "./api/Problems.ts"

const problemOf = (query: URLSearchParams, name: string, known: ReadonlyArray<string>): string | undefined => {
  if (!known.includes(name))
    return known.length === 0
      ? "unknown parameter (there are none)"
      : `unknown parameter (there are: ${known.join(", ")})`
  if (query.getAll(name).length > 1) return "given more than once"
  return isStorable(query.get(name) ?? "") ? undefined : notStorable
}

/** Returns the error of a query; undefined if each parameter is known and given once. */
export const checkQuery = (query: URLSearchParams, known: ReadonlyArray<string>): BadRequest | undefined => {
  const [first, ...others] = [...new Set(query.keys())].flatMap((name): ReadonlyArray<RequestIssue> => {
    const message = problemOf(query, name, known)
    return message === undefined ? [] : [{ path: name.slice(0, 100), message }]
  })
  return first === undefined ? undefined : invalidAll([first, ...others])
}

/** Returns the parameters that have a value. An empty one counts as missing. */
export const withoutEmpty = (query: URLSearchParams): Record<string, string> =>
  Object.fromEntries([...query].filter(([, value]) => value !== ""))
