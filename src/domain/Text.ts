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

/**
 * Runs of characters that people do not see and models read: tags, which spell whole sentences, marks that turn the direction of text, and
 * characters without width. What joins letters and emoji, and a soft hyphen, is not among them.
 */
export const invisibleRuns =
  /[\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufff9-\ufffb\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]+/gu

/** Replaces invisible characters by U+FFFD, so that two names never look the same. */
export const withoutInvisible = (text: string): string =>
  text.replace(invisibleRuns, (run) => "\ufffd".repeat([...run].length))

const escape = (text: string): string =>
  Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`).join("")

/**
 * Returns the name of a file for models and people: unchanged, or as a JSON string with escapes if it contains line breaks, controls or
 * invisible characters. A model that copies the escapes into a call names the file.
 */
export const showName = (name: string): string =>
  name.search(/[\p{Cc}\u2028\u2029]/u) < 0 && name.search(invisibleRuns) < 0
    ? name
    : JSON.stringify(name)
        .replace(invisibleRuns, escape)
        .replace(/[\p{Cc}\u2028\u2029]/gu, escape)

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
