/**
 * Counts tokens of a text. `countTokens` returns the count of a real tokenizer (o200k, close to those of current
 * models); `estimateTokens` is for values that are only ranked. Pure.
 */
import { hashBytes, makeVocabulary, readVocabulary } from "./Vocabulary.ts"
import type { Vocabulary, VocabularyData } from "./Vocabulary.ts"
import { O200K_TOKEN_SPLIT_REGEX } from "gpt-tokenizer/encodingParams/constants"

/**
 * Splits a text into pieces before its tokens are counted: words with the character before them, numbers of three
 * digits, runs of punctuation, white space. The rules are those of the tokenizer's pattern. ASCII text, which code
 * nearly always is, is split without the pattern, because this runs on every line. Pure.
 */

const other = 0
const lower = 1
const upper = 2
const digit = 3
const space = 4
const newline = 5

const kinds = new Uint8Array(256)
for (let code = 0; code < 128; code++) {
  const char = String.fromCharCode(code)
  if (/[a-z]/.test(char)) kinds[code] = lower
  else if (/[A-Z]/.test(char)) kinds[code] = upper
  else if (/\d/.test(char)) kinds[code] = digit
  else if (/[\r\n]/.test(char)) kinds[code] = newline
  else if (/\s/.test(char)) kinds[code] = space
}

const isLetter = (kind: number | undefined): boolean => kind === lower || kind === upper
const isSpace = (kind: number | undefined): boolean => kind === space || kind === newline

const kindAt = (bytes: Uint8Array, at: number, length: number): number | undefined =>
  at < length ? kinds[bytes[at] ?? 0] : undefined

/** Returns the end of the piece that starts at `from`, in ASCII text of `length` bytes. */
const endOfPiece = (bytes: Uint8Array, from: number, length: number): number => {
  const first = kindAt(bytes, from, length)
  const letters = first === other || first === space ? from + 1 : from
  if (isLetter(kindAt(bytes, letters, length))) return endOfWord(bytes, letters, length)
  if (first === digit) {
    let at = from + 1
    while (at < from + 3 && kindAt(bytes, at, length) === digit) at++
    return at
  }
  if (kindAt(bytes, bytes[from] === 32 ? from + 1 : from, length) === other) {
    let at = from + 1
    while (kindAt(bytes, at, length) === other) at++
    while (kindAt(bytes, at, length) === newline || (at < length && bytes[at] === 47)) at++
    return at
  }
  let at = from
  let afterBreak = from
  while (isSpace(kindAt(bytes, at, length))) {
    at++
    if (kindAt(bytes, at - 1, length) === newline) afterBreak = at
  }
  if (afterBreak > from) return afterBreak
  // The last blank before a word is the word's.
  return at === length || at === from + 1 ? at : at - 1
}

const endOfWord = (bytes: Uint8Array, from: number, length: number): number => {
  let at = from
  while (at < length && kinds[bytes[at] ?? 0] === upper) at++
  while (at < length && kinds[bytes[at] ?? 0] === lower) at++
  if (bytes[at] !== 39 || at + 1 >= length) return at
  const next = String.fromCharCode((bytes[at + 1] ?? 0) | 32)
  if ("sdmt".includes(next)) return at + 2
  const both = at + 2 < length ? next + String.fromCharCode((bytes[at + 2] ?? 0) | 32) : ""
  return both === "ll" || both === "ve" || both === "re" ? at + 3 : at
}

/** Splits any text. */
const splitPieces = (text: string): ReadonlyArray<string> => text.match(O200K_TOKEN_SPLIT_REGEX) ?? []

/** Merging takes quadratic time, so longer words, which are data, are counted in parts. */
const maxPiece = 512

let data: VocabularyData | undefined
let vocabulary: Vocabulary | undefined

/** Returns the vocabulary if this thread has read or received one. */
export const loadedVocabulary = (): VocabularyData | undefined => data

/** Uses a vocabulary that another thread has read: reading takes a tenth of a second. */
export const useVocabulary = (shared: VocabularyData): Vocabulary => {
  data = shared
  return (vocabulary = makeVocabulary(shared))
}

let scratch = new Uint8Array(8192)

export const countTokens = (text: string): number => {
  const known = vocabulary ?? useVocabulary(readVocabulary())
  if (scratch.length < text.length) scratch = new Uint8Array(text.length * 2)
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code > 127) return countPieces(text, known)
    scratch[at] = code
  }
  let sum = 0
  for (let from = 0; from < text.length;) {
    const to = endOfPiece(scratch, from, text.length)
    sum += countPiece(scratch, from, to, known)
    from = to
  }
  return sum
}

const countPieces = (text: string, known: Vocabulary): number =>
  splitPieces(text).reduce((sum, piece) => {
    const bytes = Buffer.from(piece)
    return sum + countPiece(bytes, 0, bytes.length, known)
  }, 0)

const countPiece = (bytes: Uint8Array, from: number, to: number, known: Vocabulary): number => {
  let sum = 0
  for (let at = from; at < to; at += maxPiece) {
    const end = Math.min(to, at + maxPiece)
    const hash = hashBytes(bytes, at, end)
    sum += known.rank(bytes, at, end, hash) >= 0 ? 1 : merged(bytes, at, end, hash, known)
  }
  return sum
}

const memorySlots = 8192
const memoryWidth = 32
/** Cache of words that are not single tokens: their bytes and counts, each in the slot of its hash. */
const remembered = new Uint8Array(memorySlots * memoryWidth)
const lengths = new Uint8Array(memorySlots)
const counts = new Uint8Array(memorySlots)

const merged = (bytes: Uint8Array, from: number, to: number, hash: number, known: Vocabulary): number => {
  const length = to - from
  if (length > memoryWidth) return merge(bytes, from, to, known)
  const slot = hash & (memorySlots - 1)
  const start = slot * memoryWidth
  if (lengths[slot] === length) {
    let same = 0
    while (same < length && remembered[start + same] === bytes[from + same]) same++
    if (same === length) return counts[slot] ?? 0
  }
  const count = merge(bytes, from, to, known)
  lengths[slot] = length
  counts[slot] = count
  for (let at = 0; at < length; at++) remembered[start + at] = bytes[from + at] ?? 0
  return count
}

const never = 0x7fffffff
const starts = new Int32Array(maxPiece + 1)
const ranks = new Int32Array(maxPiece + 1)

/** Joins the two neighbours that make the token of the lowest rank, until no two make one. */
const merge = (bytes: Uint8Array, from: number, to: number, known: Vocabulary): number => {
  let parts = to - from
  for (let at = 0; at <= parts; at++) starts[at] = from + at
  for (let part = 0; part < parts; part++) ranks[part] = rankOfPair(bytes, part, parts, known)
  for (;;) {
    let lowest = never
    let where = 0
    for (let part = 0; part < parts - 1; part++) {
      const rank = ranks[part] ?? never
      if (rank < lowest) {
        lowest = rank
        where = part
      }
    }
    if (lowest === never) return parts
    starts.copyWithin(where + 1, where + 2, parts + 1)
    ranks.copyWithin(where + 1, where + 2, parts)
    parts--
    ranks[where] = rankOfPair(bytes, where, parts, known)
    if (where > 0) ranks[where - 1] = rankOfPair(bytes, where - 1, parts, known)
  }
}

/** Returns the rank of the token that a part and the next one would form. */
const rankOfPair = (bytes: Uint8Array, part: number, parts: number, known: Vocabulary): number => {
  if (part + 2 > parts) return never
  const start = starts[part] ?? 0
  const end = starts[part + 2] ?? 0
  const rank = known.rank(bytes, start, end, hashBytes(bytes, start, end))
  return rank < 0 ? never : rank
}

/** Overestimates the tokens of a text: code has nearly three characters per token, other scripts about one. */
export const estimateTokens = (text: string): number => {
  let wide = 0
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) wide++
  return Math.ceil((text.length - wide) / 3 + wide * 1.2)
}
