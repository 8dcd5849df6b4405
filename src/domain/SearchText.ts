/** The text by which people find a run, a delivery or an entry of the queue, and the terms that they search for. Pure. */
import type { Change } from "./Change.ts"

/** Maximum length of the text in characters, and number of terms. */
const maxText = 500
const maxTerms = 8

/** Returns the text of these parts, in lower case. */
export const joinSearched = (parts: ReadonlyArray<string | undefined>): string =>
  parts
    .filter((part) => part !== undefined)
    .join(" ")
    .replaceAll("\u0000", "")
    .toLowerCase()
    .slice(0, maxText)
    // The end may be half of a character.
    .toWellFormed()

/** Returns the name of a pull request or issue, or of a repository. */
export const numbered = (repo: string, number: number | undefined): string =>
  number === undefined ? repo : `${repo}#${number}`

/** Returns what a change is found by: repository, number, commit, workspace, author, branches and title. */
export const searchText = (change: Change, workspace: string, head: string | undefined): string => {
  const { author, baseRef, headRef, repo, target, title } = change
  const name = numbered(repo.fullName, target.number)
  return joinSearched([name, head, workspace, author?.username, target.branch, headRef, baseRef, title])
}

/** Returns the terms of a query; a text is found by all of them, each a part of it. */
export const searchTerms = (query: string): ReadonlyArray<string> =>
  query
    .toLowerCase()
    .split(/\s+/)
    .filter((term) => term !== "")
    .slice(0, maxTerms)

/** Returns whether a text (`searchText`) has all of these terms. */
export const hasTerms = (text: string, terms: ReadonlyArray<string>): boolean =>
  terms.every((term) => text.includes(term))
