/** Cuts a text to a number of UTF-8 bytes at the end of a line, or of a character if the first line is longer. Pure. */
const ellipsis = "\n…"

export const cutBytes = (text: string, max: number): string => {
  const bytes = Buffer.from(text)
  if (bytes.length <= max) return text
  let end = max - Buffer.byteLength(ellipsis)
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  const line = bytes.lastIndexOf(0x0a, end)
  return `${bytes.toString("utf8", 0, line > 0 ? line : end)}${ellipsis}`
}
