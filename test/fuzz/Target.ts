/**
 * What the fuzzer needs of a parser that sees bytes of outsiders: inputs to start from, words that its format knows, and a check
 * that throws when the parser breaks a promise. A parser that throws by itself has broken one, too.
 */
export interface FuzzTarget {
  readonly name: string
  /** Valid inputs, recorded or written by hand. Earlier findings come first. */
  readonly seeds: () => ReadonlyArray<Uint8Array>
  /** Words that the mutations insert. */
  readonly words?: ReadonlyArray<string>
  /** Longest input in bytes; 16 KiB unless given. */
  readonly maxBytes?: number
  readonly check: (input: Uint8Array) => void
}

export const defaultMaxBytes = 16_384

const encoder = new TextEncoder()
const decoder = new TextDecoder()

export const bytes = (text: string): Uint8Array => encoder.encode(text)
export const json = (value: unknown): Uint8Array => bytes(JSON.stringify(value))
/** As the parsers read bodies: ill-formed UTF-8 becomes U+FFFD. */
export const text = (input: Uint8Array): string => decoder.decode(input)

/** Thrown by checks. */
export class PromiseBroken extends Error {
  override readonly name = "PromiseBroken"
}

export function ensure(holds: boolean, promise: string): asserts holds {
  if (!holds) throw new PromiseBroken(promise)
}
