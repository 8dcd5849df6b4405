/** How commands put values into the lines they print. */

/** `1 file`, `2 files`. */
export const count = (number: number, word: string): string => `${number} ${word}${number === 1 ? "" : "s"}`

/** Milliseconds since the epoch as a time in UTC, to the second. */
export const time = (millis: number): string => new Date(millis).toISOString().replace(/\.\d+Z$/, "Z")

/** What others wrote, without line breaks and control characters. */
export const oneLine = (text: string): string => text.replace(/(?:\p{Cc}|\s)+/gu, " ").trim()
