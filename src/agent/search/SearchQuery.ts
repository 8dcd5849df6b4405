/** Checks the text of a query, which leaves this machine and which an agent wrote that may follow instructions of the change. Pure. */

const maxQueryLength = 400

/** Controls, invisible and direction characters, halves of surrogate pairs, private use: no query needs them, and data hides in them. */
const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{DI}\p{Zl}\p{Zp}]/u

/** Returns why a query is refused; undefined if it may be sent. */
export const refuseQuery = (query: string): string | undefined => {
  if (query.trim() === "") return "the query is empty"
  if (query.length > maxQueryLength) return `a query has at most ${maxQueryLength} characters; name fewer words`
  if (hidden.test(query)) return "a query is one line without control or invisible characters"
  return undefined
}
