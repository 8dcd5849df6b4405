/**
 * The lines of a hunk, kept as the bytes that git printed and made strings of when somebody reads them. A large change has hundreds of
 * thousands of lines, of which few are looked at one by one; what goes over all of them goes over the bytes. Pure.
 */
import type { Hunk } from "./FileDiff.ts"

/** Lines with their line breaks, one piece after the other. */
export type HunkBytes = ReadonlyArray<Uint8Array>

interface Body {
  readonly bytes: HunkBytes
  readonly count: number
}

/**
 * Private fields on objects that others make: a class whose base hands it the object. A weak map would say the same, and have the collector
 * go through thousands of its entries again and again.
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

/** `asPrinted` is false where a line is not as git prints it: then the bytes do not stand for the lines. */
export const hunkOf = (
  place: Omit<Hunk, "lines">,
  { bytes, count, asPrinted }: Body & { readonly asPrinted: boolean }
): Hunk => {
  let lines: ReadonlyArray<string> | undefined
  // A property of its own: copies of the hunk get the lines, and none of the bytes.
  const hunk: Hunk = {
    oldStart: place.oldStart,
    oldLines: place.oldLines,
    newStart: place.newStart,
    newLines: place.newLines,
    section: place.section,
    openEnd: place.openEnd,
    get lines() {
      lines ??= linesOf(bytes)
      return lines
    }
  }
  // oxlint-disable-next-line no-new -- it is the hunk itself that is marked
  if (asPrinted) new Bodies(hunk, { bytes, count })
  return hunk
}

/** The lines as bytes, each with its line break. */
export const bytesOf = (hunk: Hunk): HunkBytes =>
  Bodies.of(hunk)?.bytes ?? [Buffer.from(hunk.lines.map((line) => `${line}\n`).join(""))]

export const countLines = (hunk: Hunk): number => Bodies.of(hunk)?.count ?? hunk.lines.length

/** The first lines as bytes. */
const firstBytes = (hunk: Hunk, count: number): Uint8Array => {
  const bytes = Bodies.of(hunk)?.bytes
  if (bytes === undefined) return Buffer.from(hunk.lines.slice(0, count).join("\n"))
  const head: Array<Uint8Array> = []
  let left = count
  for (const piece of bytes) {
    const end = endOfLines(piece, left)
    head.push(piece.subarray(0, end.at))
    left -= end.lines
    if (left === 0) break
  }
  const [only] = head
  return head.length === 1 && only !== undefined ? only : Buffer.concat(head)
}

/** The first lines, without making strings of the others. */
export const firstLines = (hunk: Hunk, count: number): ReadonlyArray<string> =>
  Bodies.of(hunk) !== undefined ? linesOf([firstBytes(hunk, count)]) : hunk.lines.slice(0, count)

/** Byte by byte: a call for each line would take longer. */
const endOfLines = (bytes: Uint8Array, most: number): { readonly at: number; readonly lines: number } => {
  let lines = 0
  let at = 0
  while (at < bytes.length && lines < most) if (bytes[at++] === 10) lines++
  return { at, lines }
}

const linesOf = (bytes: HunkBytes): ReadonlyArray<string> => {
  const [only] = bytes
  if (only === undefined) return []
  const whole = bytes.length === 1 ? textOf(only) : textOf(Buffer.concat(bytes))
  const lines = whole.split("\n")
  if (lines.at(-1) === "") lines.pop()
  // Mail gateways and copies drop the space of an empty line.
  for (let at = lines.indexOf(""); at >= 0; at = lines.indexOf("", at + 1)) lines[at] = " "
  return lines
}

export const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8")
