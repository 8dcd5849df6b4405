/**
 * The vocabulary of o200k, the tokenizer that tokens are counted with: which runs of bytes are tokens, and in which order they are
 * merged. Held flat, as bytes and numbers: two hundred thousand strings in a map take ten times the memory and a fifth of a second.
 */
// The list is data of a package, read when it is first needed, as a dynamic import of it would be.
// oxlint-disable-next-line no-restricted-imports
import { readFileSync } from "node:fs"

/** The vocabulary as numbers in shared memory, so that threads can use the same one. */
export interface VocabularyData {
  readonly blob: Uint8Array
  /** The start of each token in `blob`, by rank; the last entry is the end. */
  readonly starts: Uint32Array
  /** Hash table of ranks: rank plus one; 0 is a free slot. */
  readonly table: Int32Array
}

export interface Vocabulary {
  /** Returns the rank of the token in `bytes` from `from` to `to`; -1 where the bytes are not a token. */
  readonly rank: (bytes: Uint8Array, from: number, to: number, hash: number) => number
}

const file = new URL(import.meta.resolve("gpt-tokenizer/data/o200k_base.tiktoken"))

const slots = 1 << 19
const maxTokens = 1 << 18

const slotOf = (hash: number): number => Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 13

export const hashBytes = (bytes: Uint8Array, from: number, to: number): number => {
  let hash = 0x811c9dc5 | 0
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193)
  return hash
}

const sextets = new Uint8Array(128)
for (const [value, char] of [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"].entries()) {
  sextets[char.charCodeAt(0)] = value
}

/**
 * Reads the list: a token in base64 and its rank per line, in the order of their ranks. There are two hundred
 * thousand.
 */
export const readVocabulary = (): VocabularyData => {
  const list = readFileSync(file)
  const blob = new Uint8Array(new SharedArrayBuffer(Math.ceil(list.length * 0.75)))
  const starts = new Uint32Array(new SharedArrayBuffer((maxTokens + 1) * 4))
  let count = 0
  let end = 0
  let at = 0
  while (at < list.length) {
    if (count === maxTokens) throw new RangeError(`${file.pathname} has more than ${maxTokens} tokens`)
    starts[count++] = end
    for (;;) {
      const a = list[at] ?? 10
      if (a === 32 || a === 10) break
      const b = list[at + 1] ?? 61
      const c = list[at + 2] ?? 61
      const d = list[at + 3] ?? 61
      const bits = ((sextets[a] ?? 0) << 18) | ((sextets[b] ?? 0) << 12) | ((sextets[c] ?? 0) << 6) | (sextets[d] ?? 0)
      blob[end++] = bits >> 16
      if (c !== 61) blob[end++] = (bits >> 8) & 255
      if (d !== 61) blob[end++] = bits & 255
      at += 4
    }
    const next = list.indexOf(10, at)
    at = next < 0 ? list.length : next + 1
  }
  starts[count] = end
  return buildTable(blob, starts.subarray(0, count + 1))
}

const buildTable = (blob: Uint8Array, starts: Uint32Array): VocabularyData => {
  const table = new Int32Array(new SharedArrayBuffer(slots * 4))
  for (let rank = 0; rank < starts.length - 1; rank++) {
    let slot = slotOf(hashBytes(blob, starts[rank] ?? 0, starts[rank + 1] ?? 0))
    while (table[slot] !== 0) slot = (slot + 1) & (slots - 1)
    table[slot] = rank + 1
  }
  return { blob, starts, table }
}

export const makeVocabulary = ({ blob, starts, table }: VocabularyData): Vocabulary => ({
  rank: (bytes, from, to, hash) => {
    for (let slot = slotOf(hash); ; slot = (slot + 1) & (slots - 1)) {
      const rank = (table[slot] ?? 0) - 1
      if (rank < 0) return -1
      const start = starts[rank] ?? 0
      const length = (starts[rank + 1] ?? 0) - start
      if (length !== to - from) continue
      let same = 0
      while (same < length && blob[start + same] === bytes[from + same]) same++
      if (same === length) return rank
    }
  }
})
