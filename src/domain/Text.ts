/**
 * Checks and repairs text from outside for storage: well-formed Unicode (no half of a surrogate pair, which UTF-8 cannot express and which
 * a store would return as another text) without U+0000 (which Postgres refuses). Callers either refuse a text and name the field, or repair
 * it.
 */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes("\0")

export const notStorable = "has text that is not well-formed Unicode, or a NUL character; send it as valid UTF-8"

/** Replaces characters that cannot be stored by U+FFFD. */
export const toStorable = (text: string): string =>
  isStorable(text) ? text : text.toWellFormed().replaceAll("\0", "\ufffd")

/** Replaces line breaks and controls of a name, so that it cannot begin a line of its own. */
export const oneLine = (name: string): string => name.replace(/[\p{Cc}\u2028\u2029]/gu, "?")

/** Returns a message without a period at its end, as messages have to be. Those of other programs may have one. */
export const withoutPeriod = (message: string): string => {
  let end = message.trimEnd().length
  while (message[end - 1] === ".") end--
  return message.slice(0, end)
}

/** Returns the first `max` code units. Half of a surrogate pair at the end is removed. */
export const truncate = (text: string, max: number): string => {
  if (text.length <= max) return text
  const last = text.charCodeAt(max - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? max - 1 : max)
}
