/**
 * Cuts a text to a number of UTF-8 bytes at the end of a line, or of a character if the first line is longer, and closes the code block in
 * which it ends. Pure.
 */
import { closingFence } from "../../domain/CodeFence.ts"

const ellipsis = "\n…"
/** Room for the line that closes a code block. */
const fenceBytes = 20

export const cutBytes = (text: string, max: number): string => {
  const bytes = Buffer.from(text)
  if (bytes.length <= max) return text
  let end = max - Buffer.byteLength(ellipsis) - fenceBytes
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  const line = bytes.lastIndexOf(0x0a, end)
  const head = bytes.toString("utf8", 0, line > 0 ? line : end)
  const closing = closingFence(head)
  return `${head}${Buffer.byteLength(closing) > fenceBytes ? "" : closing}${ellipsis}`
}
