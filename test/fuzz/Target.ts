/**
 * The parts of a fuzz target: inputs to start from, words of its format, and a check that throws when the parser violates a
 * property. A parser that throws by itself violates one, too.
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
/** Decodes bytes as the parsers of bodies do: ill-formed UTF-8 becomes U+FFFD. */
export const text = (input: Uint8Array): string => decoder.decode(input)

/** Thrown by checks. */
export class PromiseBroken extends Error {
  override readonly name = "PromiseBroken"
}

export function ensure(holds: boolean, promise: string): asserts holds {
  if (!holds) throw new PromiseBroken(promise)
}
