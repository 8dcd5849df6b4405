/** A long text in parts that a chat platform takes, cut between lines where that is possible, never within a character. Pure. */
const bytes = (text: string): number => Buffer.byteLength(text, "utf8")

/** Of one line that is too long for a part: pieces of whole characters. */
const pieces = (line: string, most: number): ReadonlyArray<string> => {
  const found: Array<string> = []
  let piece = ""
  for (const character of line) {
    if (bytes(piece) + bytes(character) > most) {
      found.push(piece)
      piece = ""
    }
    piece += character
  }
  return [...found, piece]
}

/** Parts of at most `most` UTF-8 bytes each; what is beyond `parts` of them is replaced by `notice`. */
export const split = (text: string, most: number, parts: number, notice: string): ReadonlyArray<string> => {
  const all: Array<string> = []
  let part = ""
  for (const line of text.split("\n").flatMap((row) => pieces(row, most))) {
    const longer = part === "" ? line : `${part}\n${line}`
    if (bytes(longer) <= most) {
      part = longer
      continue
    }
    all.push(part.trim())
    part = line
  }
  all.push(part.trim())
  const filled = all.filter((one) => one !== "")
  if (filled.length <= parts) return filled
  const last = filled[parts - 1] ?? ""
  const room = most - bytes(notice) - 2
  return [...filled.slice(0, parts - 1), `${pieces(last, room)[0] ?? ""}\n\n${notice}`]
}
