/**
 * Splits a long text into parts that a chat platform accepts, between lines where possible and never within a character. Pure.
 */
const bytes = (text: string): number => Buffer.byteLength(text, "utf8")

/** Splits a line that is too long for a part into pieces of whole characters. */
const pieces = (line: string, maxBytes: number): ReadonlyArray<string> => {
  const complete: Array<string> = []
  let piece = ""
  for (const character of line) {
    if (bytes(piece) + bytes(character) > maxBytes) {
      complete.push(piece)
      piece = ""
    }
    piece += character
  }
  return [...complete, piece]
}

/** Returns at most `parts` parts of at most `maxBytes` UTF-8 bytes each; `notice` replaces the rest. */
export const split = (text: string, maxBytes: number, parts: number, notice: string): ReadonlyArray<string> => {
  const all: Array<string> = []
  let part = ""
  for (const line of text.split("\n").flatMap((row) => pieces(row, maxBytes))) {
    const longer = part === "" ? line : `${part}\n${line}`
    if (bytes(longer) <= maxBytes) {
      part = longer
      continue
    }
    all.push(part.trim())
    part = line
  }
  all.push(part.trim())
  const nonEmpty = all.filter((line) => line !== "")
  if (nonEmpty.length <= parts) return nonEmpty
  const last = nonEmpty[parts - 1] ?? ""
  const room = maxBytes - bytes(notice) - 2
  return [...nonEmpty.slice(0, parts - 1), `${pieces(last, room)[0] ?? ""}\n\n${notice}`]
}
