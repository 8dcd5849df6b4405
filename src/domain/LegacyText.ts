/**
 * Finds the encoding of text that is not UTF-8: GB18030 (and GBK), Shift-JIS, EUC-KR or Latin-1 (Windows-1252). Decided by how many of its
 * characters are the frequent ones of each encoding, because most bytes are valid in several. Line breaks are ASCII in all of them, so that
 * the lines of the decoded text are those of the file. Pure.
 */

export type LegacyEncoding = "gb18030" | "shift_jis" | "euc-kr" | "windows-1252"

/** Number of bytes by which the encoding is decided. */
const sampleLength = 262_144
/** Characters other than ASCII from which Hangul is recognised: Chinese may have fewer of the same bytes by chance. */
const minHangul = 6
/** Smallest average weight of the characters. */
const minShare = 0.2

interface Score {
  /** Characters other than ASCII. */
  units: number
  /** Frequent characters count 1, rare ones less. */
  sum: number
}

/** Returns the length of the character at a position and its weight; 0: the bytes are not of the encoding. */
type Step = (bytes: Uint8Array, at: number) => readonly [length: number, weight: number]

const within = (byte: number | undefined, from: number, to: number): boolean =>
  byte !== undefined && byte >= from && byte <= to
const invalid = [0, 0] as const

const gb18030: Step = (bytes, at) => {
  const [first, second = 0, third, fourth] = bytes.subarray(at, at + 4)
  if (!within(first, 0x81, 0xfe)) return invalid
  if (within(second, 0x30, 0x39)) return within(third, 0x81, 0xfe) && within(fourth, 0x30, 0x39) ? [4, -0.5] : invalid
  if (!within(second, 0x40, 0xfe) || second === 0x7f) return invalid
  // Traditional characters.
  if (second < 0xa1) return [2, -0.3]
  // Punctuation and full width; the characters in use, which are sorted by their sound; the others.
  return [2, within(first, 0xa1, 0xa3) || within(first, 0xb0, 0xd7) ? 1 : within(first, 0xd8, 0xf7) ? 0.2 : -1]
}

const euckr: Step = (bytes, at) => {
  const [first = 0, second = 0] = bytes.subarray(at, at + 2)
  if (!within(first, 0x81, 0xfe) || !within(second, 0x41, 0xfe)) return invalid
  if (second < 0xa1 || first < 0xa1) return [2, -1]
  return [2, within(first, 0xb0, 0xc8) ? 1 : within(first, 0xa1, 0xa3) ? 0.5 : -1]
}

const shiftJis: Step = (bytes, at) => {
  const [first, second] = bytes.subarray(at, at + 2)
  if (within(first, 0xa1, 0xdf)) return [1, -0.5]
  if (!(within(first, 0x81, 0x9f) || within(first, 0xe0, 0xfc))) return invalid
  if (!within(second, 0x40, 0xfc) || second === 0x7f) return invalid
  return [2, within(first, 0x81, 0x83) || within(first, 0x88, 0x97) ? 1 : within(first, 0x98, 0xea) ? 0.2 : -1]
}

const isLetter = (byte: number | undefined): boolean => within(byte, 0x41, 0x5a) || within(byte, 0x61, 0x7a)

/** Letters with accents are next to other letters; longer runs are another encoding. */
const latin: Step = (bytes, at) => {
  let end = at
  while (within(bytes[end], 0x80, 0xff)) end++
  const length = end - at
  if (length > 2 || bytes.subarray(at, end).some((byte) => unassigned.has(byte))) return [length, -1]
  return [length, isLetter(bytes[at - 1]) || isLetter(bytes[end]) ? 0.6 : length === 1 ? 0.3 : -0.6]
}
const unassigned: ReadonlySet<number> = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d])

/** Rows in order of precedence for equal scores. */
const steps: ReadonlyArray<readonly [encoding: LegacyEncoding, step: Step]> = [
  ["gb18030", gb18030],
  ["shift_jis", shiftJis],
  ["euc-kr", euckr],
  ["windows-1252", latin]
]

/** Undefined: the bytes are not of the encoding. A character that the end of the sample cuts does not count. */
const judge = (bytes: Uint8Array, step: Step): Score | undefined => {
  const score: Score = { units: 0, sum: 0 }
  for (let at = 0; at < bytes.length;) {
    const first = bytes[at] ?? 0
    if (first < 0x80) {
      at++
      continue
    }
    if (at + 4 > bytes.length && bytes.length === sampleLength) break
    const [length, weight] = step(bytes, at)
    if (length === 0) return undefined
    score.units++
    score.sum += weight
    at += length
  }
  return score
}

/** Share of valid characters from which bytes are damaged UTF-8. */
const minUtf8 = 0.6

/** Returns the length of the character that begins with this byte; 0: none does. */
const utf8Length = (first: number): number => {
  if (first < 0x80) return 1
  if (within(first, 0xc2, 0xdf)) return 2
  if (within(first, 0xe0, 0xef)) return 3
  return within(first, 0xf0, 0xf4) ? 4 : 0
}

const isDamagedUtf8 = (bytes: Uint8Array): boolean => {
  let [valid, all] = [0, 0]
  for (let at = 0; at < bytes.length;) {
    const first = bytes[at] ?? 0
    const length = utf8Length(first)
    const rest = bytes.subarray(at + 1, at + length)
    const isValid = length > 1 && rest.length === length - 1 && rest.every((byte) => within(byte, 0x80, 0xbf))
    if (first >= 0x80) all++
    if (isValid) valid++
    at += isValid ? length : 1
  }
  return valid > all * minUtf8
}

/** Returns undefined for ASCII, for UTF-8 with wrong bytes, and for bytes that are unlikely in any of the encodings. */
export const detectEncoding = (bytes: Uint8Array): LegacyEncoding | undefined => {
  const sample = bytes.subarray(0, sampleLength)
  if (isDamagedUtf8(sample)) return undefined
  let best: { readonly encoding: LegacyEncoding | undefined; readonly share: number } = {
    encoding: undefined,
    share: minShare
  }
  for (const [encoding, step] of steps) {
    const score = judge(sample, step)
    if (score === undefined || score.units === 0) continue
    const share = score.sum / score.units
    // Hangul has bytes of Chinese characters too, so that it counts as much as they do.
    const isHangul = encoding === "euc-kr" && share >= 0.9 && score.units >= minHangul
    if (share > best.share || (isHangul && share >= best.share)) best = { encoding, share }
  }
  return best.encoding
}

export const decodeLegacy = (encoding: LegacyEncoding, bytes: Uint8Array): string =>
  new TextDecoder(encoding).decode(bytes)
