/** The text by which people find a run, and the terms that they search for. Pure. */
import type { Change } from "./Change.ts"

/** Maximum length of the text in characters, and number of terms. */
const maxText = 500
const maxTerms = 8

/** Returns what a run is found by, in lower case: repository, number, workspace, author, branches, title and commit. */
export const searchText = (change: Change, workspace: string, head: string): string => {
  const { author, baseRef, headRef, repo, target, title } = change
  const number = target.number === undefined ? undefined : `#${target.number}`
  return (
    [`${repo.fullName}${number ?? ""}`, head, workspace, author?.username, target.branch, headRef, baseRef, title]
      .filter((part) => part !== undefined)
      .join(" ")
      .replaceAll("\u0000", "")
      .toLowerCase()
      .slice(0, maxText)
      // The end may be half of a character.
      .toWellFormed()
  )
}

/** Returns the terms of a query; a run is found by all of them, each a part of its text. */
export const searchTerms = (query: string): ReadonlyArray<string> =>
  query
    .toLowerCase()
    .split(/\s+/)
    .filter((term) => term !== "")
    .slice(0, maxTerms)
