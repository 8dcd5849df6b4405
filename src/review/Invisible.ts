/**
 * Shows characters that people do not see and models read: tags, which spell whole sentences, marks that turn the direction of text, and
 * characters without width. What joins letters and emoji, and a soft hyphen, is kept. Pure.
 */

const invisible =
  /[\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufff9-\ufffb\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/u
const runsAndLines =
  /\n|[\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufff9-\ufffb\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]+/gu

/** Characters of a run that are named. */
const maxNamed = 8
/** Runs that are shown in a line. A text becomes longer by a bounded part. */
const maxRuns = 16

const name = (character: string): string => `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}`

const showRun = (run: string): string => {
  const characters = [...run]
  const named = characters.slice(0, maxNamed).map(name).join(" ")
  return characters.length <= maxNamed ? `[${named}]` : `[${named} and ${characters.length - maxNamed} more]`
}

/** Replaces each run of invisible characters by their names, within its line. Returns the same text where there are none. */
export const showInvisible = (text: string): string => {
  if (!invisible.test(text)) return text
  let runs = 0
  return text.replace(runsAndLines, (found) => {
    if (found === "\n") {
      runs = 0
      return found
    }
    runs++
    if (runs > maxRuns) return runs === maxRuns + 1 ? "[more invisible characters]" : ""
    return showRun(found)
  })
}
