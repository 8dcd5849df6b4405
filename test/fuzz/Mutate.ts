/** Makes new inputs of known ones: flips, cuts, repeats, swaps, numbers, words of the format, pieces of other inputs. */
import { bytes } from "./Target.ts"
import type { Random } from "./Random.ts"
import { pick } from "./Random.ts"

/** Inputs that break parsers of any format. */
const commonWords = [
  "",
  "\0",
  "\r\n",
  "\n\n",
  "\t",
  "\u2028",
  "\ufeff",
  "\ufffd",
  "\u202e",
  "\u{1f4a9}",
  "\\ud800",
  "__proto__",
  "constructor",
  "toString",
  "null",
  "true",
  "-1",
  "0",
  "1e309",
  "9007199254740993",
  "2147483648",
  "../",
  "%00",
  "&#0;",
  "<!--",
  "-->",
  "```",
  "*".repeat(64),
  "[".repeat(64),
  "{".repeat(64),
  "(".repeat(64),
  " ".repeat(256),
  "a".repeat(256)
].map(bytes)

const splice = (input: Uint8Array, from: number, to: number, insert: Uint8Array): Uint8Array => {
  const output = new Uint8Array(from + insert.length + input.length - to)
  output.set(input.subarray(0, from))
  output.set(insert, from)
  output.set(input.subarray(to), from + insert.length)
  return output
}

/** Start and end of a piece of the input, mostly a short one. */
const piece = (random: Random, input: Uint8Array): readonly [number, number] => {
  const from = random.below(input.length + 1)
  const longest = random.below(4) === 0 ? input.length : Math.min(32, input.length)
  return [from, Math.min(input.length, from + random.below(longest + 1))]
}

const isWordByte = (byte: number | undefined): boolean =>
  byte !== undefined &&
  (byte >= 128 || byte === 95 || (byte >= 48 && byte <= 57) || ((byte | 32) >= 97 && (byte | 32) <= 122))

/** Start and end of the word around a place of the input; both are that place between words. */
const wordAt = (random: Random, input: Uint8Array): readonly [number, number] => {
  const at = random.below(input.length)
  let [from, to] = [at, at]
  while (isWordByte(input[from - 1])) from--
  while (isWordByte(input[to])) to++
  return [from, to]
}

type Mutation = (random: Random, input: Uint8Array, words: ReadonlyArray<Uint8Array>, other: Uint8Array) => Uint8Array

const mutations: ReadonlyArray<Mutation> = [
  function flipBit(random, input) {
    const output = input.slice()
    const at = random.below(output.length)
    output[at] = (output[at] ?? 0) ^ (1 << random.below(8))
    return output
  },
  function setByte(random, input) {
    const output = input.slice()
    output[random.below(output.length)] = random.below(256)
    return output
  },
  function cut(random, input) {
    return splice(input, ...piece(random, input), new Uint8Array(0))
  },
  function repeat(random, input) {
    const [from, to] = piece(random, input)
    const once = input.subarray(from, to)
    const times = 1 + random.below(random.below(8) === 0 ? 200 : 4)
    const many = new Uint8Array(once.length * times)
    for (let i = 0; i < times; i++) many.set(once, i * once.length)
    return splice(input, to, to, many)
  },
  function move(random, input) {
    const [from, to] = piece(random, input)
    const at = random.below(input.length + 1)
    return splice(input, at, at, input.slice(from, to))
  },
  function insertWord(random, input, words) {
    const at = random.below(input.length + 1)
    return splice(input, at, at, pick(random, words) ?? new Uint8Array(0))
  },
  function replaceByWord(random, input, words) {
    return splice(input, ...piece(random, input), pick(random, words) ?? new Uint8Array(0))
  },
  function exchangeWord(random, input, words) {
    return splice(input, ...wordAt(random, input), pick(random, words) ?? new Uint8Array(0))
  },
  function takeWordFromOther(random, input, _words, other) {
    return splice(input, ...wordAt(random, input), other.slice(...wordAt(random, other)))
  },
  function takeFromOther(random, input, _words, other) {
    const [from, to] = piece(random, other)
    return splice(input, ...piece(random, input), other.slice(from, to))
  },
  function changeNumber(random, input) {
    const digits = [...input.keys()].filter((at) => input[at] !== undefined && input[at] >= 48 && input[at] <= 57)
    const at = pick(random, digits)
    return at === undefined ? input : splice(input, at, at + 1, bytes(String(random.below(2) === 0 ? 0 : 99_999)))
  }
]

export const mutator = (random: Random, words: ReadonlyArray<string>, maxBytes: number) => {
  const known = [...commonWords, ...words.map(bytes)]
  return (input: Uint8Array, other: Uint8Array): Uint8Array => {
    let output = input
    for (let left = 1 + random.below(4); left > 0; left--) {
      const mutate = pick(random, mutations)
      if (mutate !== undefined && output.length > 0) output = mutate(random, output, known, other)
    }
    return output.subarray(0, maxBytes)
  }
}
