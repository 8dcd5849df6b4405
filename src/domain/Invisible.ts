/**
 * Shows characters that people do not see and models read (domain/Text.ts). Pure.
 */
import { invisibleRuns } from "./Text.ts"

/** Characters of a run that are named. */
const maxNamed = 8
/** Runs that are named in a line. A text becomes longer by a bounded part. */
const maxRuns = 16
/** Replaces each further run. Without it the text around the run would join to words, and to secrets, that were not there. */
const unnamed = "\uFFFD"

const name = (character: string): string => `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}`

const showRun = (run: string): string => {
  const characters = [...run]
  const named = characters.slice(0, maxNamed).map(name).join(" ")
  return characters.length <= maxNamed ? `[${named}]` : `[${named} and ${characters.length - maxNamed} more]`
}

const showInLine = (line: string): string => {
  let runs = 0
  return line.replace(invisibleRuns, (run) => {
    runs++
    if (runs > maxRuns) return runs === maxRuns + 1 ? "[more invisible characters]" : unnamed
    return showRun(run)
  })
}

/** Replaces each run of invisible characters by their names, within its line. Returns the same text where there are none. */
export const showInvisible = (text: string): string =>
  text.search(invisibleRuns) < 0 ? text : text.split("\n").map(showInLine).join("\n")
