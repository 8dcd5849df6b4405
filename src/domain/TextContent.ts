/**
 * The text of a file, whatever it is encoded in. Git takes for binary what has a NUL byte near its beginning; compilers do not, and
 * read UTF-16 as well. Decided by content alone, of which a bounded part is looked at. Pure.
 */

/** Bytes in which git looks for a NUL. */
const gitLength = 8000
/** Characters by which it is judged whether a decoding is text. */
const sampleLength = 65_536
/** Share of characters that no text has. */
const maxStray = 0.02
/** A file that has more NUL bytes than this is data. */
const maxNuls = 0.3
const shownNul = "\u2400"

/** Undefined: it is not text. A NUL is shown as `␀`. */
export const decodeText = (bytes: Uint8Array): string | undefined => {
  const marked = byMark(bytes)
  if (marked !== undefined) return printable(decode(marked, bytes.subarray(2)))
  if (!bytes.subarray(0, gitLength).includes(0)) return decode("utf-8", bytes)
  return printable(decode("utf-8", bytes)) ?? printable(decode(likelier(bytes.subarray(0, sampleLength)), bytes))
}

/** Blanks and line breaks are of ASCII in every script: the byte that is zero then says which one comes first. */
const likelier = (sample: Uint8Array): Encoding => {
  const zeros = [0, 0]
  for (let at = 0; at < sample.length; at++) if (sample[at] === 0) zeros[at & 1] = (zeros[at & 1] ?? 0) + 1
  return (zeros[1] ?? 0) >= (zeros[0] ?? 0) ? "utf-16le" : "utf-16be"
}

type Encoding = "utf-8" | "utf-16le" | "utf-16be"

const byMark = ([first, second]: Uint8Array): Encoding | undefined =>
  first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : undefined

const decode = (encoding: Encoding, bytes: Uint8Array): string => {
  const { buffer, byteOffset, byteLength } = bytes
  if (encoding === "utf-8") return Buffer.from(buffer, byteOffset, byteLength).toString("utf8")
  return new TextDecoder(encoding).decode(bytes)
}

const printable = (text: string): string | undefined =>
  isText(text.slice(0, sampleLength), maxNuls) ? text.replaceAll("\0", shownNul) : undefined

/** What no text has: controls, half characters, code points without a meaning. */
const stray = /[^\P{C}\t\n\v\f\r\p{Cf}]|\ufffd/u

const isText = (text: string, nuls: number): boolean => {
  let zero = 0
  let odd = 0
  let length = 0
  for (const char of text) {
    length++
    if (char === "\0") zero++
    else if (stray.test(char)) odd++
  }
  return length > 0 && zero <= length * nuls && odd <= length * maxStray
}
