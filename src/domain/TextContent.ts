/**
 * Decodes the text of a file: UTF-8, UTF-16, or one of the encodings of `LegacyText`. Git treats a file with a NUL byte near its beginning as binary; compilers do not, and also
 * read UTF-16. Decided by a limited part of the content alone. Pure.
 */
import { decodeLegacy, detectEncoding } from "./LegacyText.ts"

/** Number of bytes in which git searches for a NUL. */
const gitLength = 8000
/** Number of characters by which a decoding is judged to be text. */
const sampleLength = 65_536
/** Maximum share of characters that do not occur in text. */
const maxStray = 0.02
/** Maximum share of NUL bytes; a file with more is data. */
const maxNuls = 0.3
const shownNul = "\u2400"

/** Returns undefined if it is not text. A NUL is replaced by `␀`. */
export const decodeText = (bytes: Uint8Array): string | undefined => {
  const marked = byMark(bytes)
  if (marked !== undefined) return printable(decode(marked, bytes.subarray(2)))
  if (!bytes.subarray(0, gitLength).includes(0)) return decodeBytes(bytes)
  return printable(decode("utf-8", bytes)) ?? printable(decode(likelier(bytes.subarray(0, sampleLength)), bytes))
}

/** Decodes bytes without a mark and NULs. Those that are in no encoding are replaced. */
export const decodeBytes = (bytes: Uint8Array): string => {
  const encoding = isUtf8(bytes) ? undefined : detectEncoding(bytes)
  return encoding === undefined ? decode("utf-8", bytes) : decodeLegacy(encoding, bytes)
}

const strict = new TextDecoder("utf-8", { fatal: true })

export const isUtf8 = (bytes: Uint8Array): boolean => {
  try {
    strict.decode(bytes)
    return true
  } catch {
    return false
  }
}

/** Returns the likelier byte order. Blanks and line breaks are ASCII in every script, so the position of their zero byte decides. */
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

/** Characters that do not occur in text: controls, half characters, unassigned code points. */
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
