/**
 * The lines of a hunk, stored as the bytes that git printed and decoded on demand. A large change has hundreds of
 * thousands of lines, of which few are read one by one; whatever processes all of them works on the bytes. Pure.
 */
import type { Hunk } from "./FileDiff.ts"

/** Lines with their line breaks, in consecutive pieces. */
type HunkBytes = ReadonlyArray<Uint8Array>

/** Maximum number of characters of a line that are read. The review reports lines above it as unread. */
export const readLength = 65_536

interface Body {
  readonly bytes: HunkBytes
  readonly count: number
  /** False where a line differs from git's format, so that the bytes do not represent the lines. */
  readonly asPrinted: boolean
  lines?: ReadonlyArray<string>
}

/**
 * Private fields on objects of other classes, by a class whose base returns the object. A weak map has the same effect,
 * but its thousands of entries slow down every garbage collection.
 */
// oxlint-disable-next-line no-extraneous-class -- the point of it
class Given {
  constructor(hunk: Hunk) {
    // oxlint-disable-next-line no-constructor-return -- the point of it
    return hunk
  }
}
class Bodies extends Given {
  readonly #body: Body
  constructor(hunk: Hunk, body: Body) {
    super(hunk)
    this.#body = body
  }
  static of(hunk: Hunk): Body | undefined {
    return #body in hunk ? hunk.#body : undefined
  }
}

export const makeHunk = (place: Omit<Hunk, "lines">, body: Omit<Body, "lines">): Hunk => {
  const { bytes, count, asPrinted } = body
  const own: Body = { bytes, count, asPrinted }
  // An own property: copies of the hunk get the lines, but not the bytes.
  const hunk: Hunk = {
    oldStart: place.oldStart,
    oldLines: place.oldLines,
    newStart: place.newStart,
    newLines: place.newLines,
    section: place.section,
    openEnd: place.openEnd,
    get lines() {
      own.lines ??= read(own)
      return own.lines
    }
  }
  // oxlint-disable-next-line no-new -- it is the hunk itself that is marked
  new Bodies(hunk, own)
  return hunk
}

/** The lines as bytes, each with its line break. */
export const toBytes = (hunk: Hunk): HunkBytes => {
  const body = Bodies.of(hunk)
  if (body === undefined) return [Buffer.from(hunk.lines.map((line) => `${line}\n`).join(""))]
  if (body.asPrinted) return body.bytes
  const text = decodeUtf8(Buffer.concat(body.bytes)).replace(/^(?=\n)/gm, " ")
  return [Buffer.from(text.endsWith("\n") ? text : `${text}\n`)]
}

export const countLines = (hunk: Hunk): number => Bodies.of(hunk)?.count ?? hunk.lines.length

/** Counts the added and removed lines: the others are in the numbers of both sides. Decodes no line. */
export const countChanged = (hunk: Hunk): number => 2 * countLines(hunk) - hunk.oldLines - hunk.newLines

/** Whether a line has more bytes than the limit. Decodes no line. */
export const hasLineOver = (hunk: Hunk, length: number): boolean => {
  const body = Bodies.of(hunk)
  if (body === undefined) {
    for (const line of hunk.lines) {
      if (line.length > length) return true
    }
    return false
  }
  let begun = 0
  for (const piece of body.bytes) {
    for (let at = 0; at < piece.length;) {
      const next = piece.indexOf(newline, at)
      begun += (next < 0 ? piece.length : next) - at
      if (begun > length) return true
      if (next < 0) break
      begun = 0
      at = next + 1
    }
  }
  return false
}

/** Returns the first lines as bytes, up to the limit; undefined where the hunk has no bytes of its own. */
export const firstBytes = (hunk: Hunk, count: number, most = Number.POSITIVE_INFINITY): Uint8Array | undefined => {
  const body = Bodies.of(hunk)
  if (body?.asPrinted !== true) return undefined
  const [whole] = body.bytes
  if (whole !== undefined && body.bytes.length === 1 && body.count <= count && whole.length <= most) return whole
  const head: Array<Uint8Array> = []
  let left = count
  let room = most
  for (const piece of body.bytes) {
    const end = endOfLines(piece.length > room ? piece.subarray(0, room) : piece, left)
    head.push(piece.subarray(0, end.at))
    left -= end.lines
    room -= end.at
    if (left === 0 || room === 0) break
  }
  const [only] = head
  return head.length === 1 && only !== undefined ? only : Buffer.concat(head)
}

/** Returns the first lines within a number of bytes. Decodes no other lines. */
export const firstLines = (hunk: Hunk, count: number, most?: number): ReadonlyArray<string> => {
  const bytes = firstBytes(hunk, count, most)
  return bytes === undefined ? hunk.lines.slice(0, count) : splitLines(decodeUtf8(bytes))
}

/** Byte by byte: a call for each line would take longer. */
const endOfLines = (bytes: Uint8Array, most: number): { readonly at: number; readonly lines: number } => {
  let lines = 0
  let at = 0
  while (at < bytes.length && lines < most) if (bytes[at++] === newline) lines++
  return { at, lines }
}

const read = ({ bytes, asPrinted }: Body): ReadonlyArray<string> => {
  const [only] = bytes
  const lines = bytes.length === 1 && only !== undefined ? splitLines(decodeUtf8(only)) : joined(bytes)
  // Mail gateways and copies drop the space of an empty line.
  if (!asPrinted) for (let at = lines.indexOf(""); at >= 0; at = lines.indexOf("", at + 1)) lines[at] = " "
  return lines
}

/** A line may span several pieces. */
const joined = (bytes: HunkBytes): Array<string> => {
  const lines: Array<string> = []
  let begun: Array<Uint8Array> = []
  let length = 0
  const begin = (part: Uint8Array) => {
    if (part.length === 0 || length > readLength * bytesPerCharacter) return
    begun.push(part)
    length += part.length
  }
  const finish = (part: Uint8Array) => {
    begun.push(part)
    for (const line of splitLines(decodeUtf8(begun.length === 1 ? part : Buffer.concat(begun)))) lines.push(line)
    begun = []
    length = 0
  }
  for (const piece of bytes) {
    const end = piece.lastIndexOf(newline) + 1
    if (end > 0) finish(piece.subarray(0, end))
    begin(piece.subarray(end))
  }
  if (begun.length > 0) finish(new Uint8Array())
  return lines
}

/** Returns the lines of a file, with an empty one after a final line break. Each is cut at the same length as lines of hunks. */
export const linesOfText = (text: string): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (let at = 0; at <= text.length;) {
    const next = text.indexOf("\n", at)
    const end = next < 0 ? text.length : next
    lines.push(text.slice(at, Math.min(end, at + readLength - 1)))
    at = end + 1
  }
  return lines
}

const newline = 10
const bytesPerCharacter = 4

const splitLines = (text: string): Array<string> => {
  const lines = text.split("\n")
  if (lines.at(-1) === "") lines.pop()
  // Most texts are shorter than the longest line.
  if (text.length <= readLength) return lines
  for (const [at, line] of lines.entries()) if (line.length > readLength) lines[at] = line.slice(0, readLength)
  return lines
}

export const decodeUtf8 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8")

/** Decodes one character per byte, which is fast and correct for ASCII. */
export const decodeLatin1 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1")
