/**
 * Splits a long text into parts that a chat platform accepts: between lines where possible, and never within a character or a mention. A
 * code block that continues in the next part is closed and opened again. Pure.
 */
import { closingFence, fenceAfter } from "../../domain/CodeFence.ts"

const bytes = (text: string): number => Buffer.byteLength(text, "utf8")

/** Longest markup in angle brackets that is kept whole: a mention, or the place of one. */
const maxTag = 200

/** Longest escape of a character, such as `&amp;`. */
const maxEscape = 6

/** Returns the position before which a piece ends, so that no mention and no escape is split. */
const endOf = (piece: string): number => {
  const tag = piece.lastIndexOf("<at ")
  const bracket = piece.lastIndexOf("<")
  const isOpenMention = tag >= 0 && !piece.includes("</at>", tag)
  const isOpenTag = bracket >= 0 && !piece.includes(">", bracket)
  const at = isOpenMention ? tag : isOpenTag ? bracket : piece.length
  const end = at > 0 && piece.length - at <= maxTag ? at : piece.length
  const escape = piece.lastIndexOf("&")
  const isOpenEscape = escape > 0 && piece.length - escape < maxEscape && !piece.includes(";", escape)
  return isOpenEscape ? Math.min(escape, end) : end
}

/** Splits a line that is too long for a part into pieces of whole characters. */
const pieces = (line: string, maxBytes: number): ReadonlyArray<string> => {
  if (bytes(line) <= maxBytes) return [line]
  const complete: Array<string> = []
  let piece = ""
  let size = 0
  for (const character of line) {
    if (size + bytes(character) > maxBytes && piece !== "") {
      const end = endOf(piece)
      complete.push(piece.slice(0, end))
      piece = piece.slice(end)
      size = bytes(piece)
    }
    piece += character
    size += bytes(character)
  }
  return [...complete, piece]
}

/** Room that a part keeps for opening and closing a code block again. */
const fenceBytes = 40

class Parts {
  readonly all: Array<string> = []
  readonly #maxBytes: number
  #part = ""
  #fence: string | undefined
  /** First line of the open block. */
  #opening = ""

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  add(line: string): void {
    const longer = this.#part === "" ? line : `${this.#part}\n${line}`
    const fence = fenceAfter(this.#fence, line)
    const closing = fence === undefined ? 0 : bytes(fence) + 1
    // An opened block holds at least one of its lines.
    if (bytes(longer) + closing > this.#maxBytes && this.#part !== "" && this.#part !== this.#opening) {
      this.end()
      this.#part = this.#fence === undefined ? line : `${this.#opening}\n${line}`
    } else this.#part = longer
    if (this.#fence === undefined && fence !== undefined) this.#opening = bytes(line) <= fenceBytes ? line : fence
    this.#fence = fence
    if (fence === undefined) this.#opening = ""
  }

  end(): void {
    const isOnlyOpened = this.#fence !== undefined && this.#part.trim() === this.#opening.trim()
    if (!isOnlyOpened) this.all.push(`${this.#part}${this.#fence === undefined ? "" : `\n${this.#fence}`}`.trim())
    this.#part = ""
  }
}

/** Returns at most `parts` parts of at most `maxBytes` UTF-8 bytes each; `notice` replaces the rest. */
export const split = (text: string, maxBytes: number, parts: number, notice: string): ReadonlyArray<string> => {
  const made = new Parts(maxBytes)
  // Only texts with code blocks need room for their fences.
  const room = text.includes("```") || text.includes("~~~") ? Math.max(1, maxBytes - 2 * fenceBytes) : maxBytes
  for (const line of text.split("\n").flatMap((row) => pieces(row, room))) made.add(line)
  made.end()
  const nonEmpty = made.all.filter((line) => line !== "")
  if (nonEmpty.length <= parts) return nonEmpty
  const last = nonEmpty[parts - 1] ?? ""
  const head = pieces(last, maxBytes - bytes(notice) - 2 - fenceBytes)[0] ?? ""
  return [...nonEmpty.slice(0, parts - 1), `${head}${closingFence(head)}\n\n${notice}`]
}
