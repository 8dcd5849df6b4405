/** Formats values for the output of commands. */
import { withoutInvisible } from "../domain/Text.ts"

/** Formats a number with its noun: `1 file`, `2 files`. */
export const count = (number: number, word: string): string => `${number} ${word}${number === 1 ? "" : "s"}`

/** Formats milliseconds since the epoch as a time in UTC, to the second. */
export const time = (millis: number): string => new Date(millis).toISOString().replace(/\.\d+Z$/, "Z")

/** Removes line breaks, control characters and those that change the direction of text from text of others, and shows invisible ones. */
export const oneLine = (text: string): string =>
  withoutInvisible(text.replace(/(?:\p{Cc}|\p{Bidi_Control}|\s)+/gu, " ")).trim()

/** Shortens a time in ISO 8601 to the second. */
export const second = (iso: string): string => iso.replace(/\.\d+Z$/, "Z")
