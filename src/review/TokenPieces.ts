/**
 * Splits a text into pieces before its tokens are counted: words with the character before them, numbers of three
 * digits, runs of punctuation, white space. The rules are those of the tokenizer's pattern. ASCII text, which code
 * nearly always is, is split without the pattern, because this runs on every line. Pure.
 */
import { O200K_TOKEN_SPLIT_REGEX } from "gpt-tokenizer/encodingParams/constants"

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
export const endOfPiece = (bytes: Uint8Array, from: number, length: number): number => {
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
export const splitPieces = (text: string): ReadonlyArray<string> => text.match(O200K_TOKEN_SPLIT_REGEX) ?? []
