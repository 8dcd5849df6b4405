/**
 * Text from outside as every store can hold it: well-formed Unicode (no half of a surrogate pair, which UTF-8 cannot express and
 * which a store would read back as another text) without U+0000 (which Postgres refuses). Where a text is refused the caller names
 * the field; where it must be kept, it is repaired.
 */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes("\0")

export const notStorable = "has text that is not well-formed Unicode, or a NUL character; send it as valid UTF-8"

/** The text with U+FFFD in place of what no store can hold. */
export const toStorable = (text: string): string =>
  isStorable(text) ? text : text.toWellFormed().replaceAll("\0", "\ufffd")

/** The first `max` code units. Half of a surrogate pair at the cut is left out. */
export const truncate = (text: string, max: number): string => {
  if (text.length <= max) return text
  const last = text.charCodeAt(max - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? max - 1 : max)
}
