/**
 * Body of a delivery that is not authenticated yet, in the blocks in which it was received. All operations take linear time, are
 * chunked (the generators yield after about `stepBytes`, so that the caller can let other requests run) and hold no second copy:
 * a form is decoded in place, once for all secrets.
 */
import { Redacted } from "effect"
import type { ForgeWebhook, Headers } from "./Forge.ts"

/**
 * Decodes the `payload` field of a form in place: decoding shortens it, so that each block of the form has room for its decoded
 * bytes. Takes linear time for every input. A block may end anywhere, including inside an escape.
 */
const plus = 0x2b
const percent = 0x25
const space = 0x20
const ampersand = 0x26
const name = Buffer.from("payload=")

/** Values of the hexadecimal digits by character code; 256 for every other character. */
const digits = new Uint16Array(256).fill(256)
for (let value = 0; value < 16; value++) {
  const digit = value.toString(16)
  digits[digit.charCodeAt(0)] = value
  digits[digit.toUpperCase().charCodeAt(0)] = value
}

type State =
  /** Reads the name of a field; `#matched` characters of it match `name`. */
  | "name"
  /** Skips another field. */
  | "other"
  | "payload"
  | "after"
  /** A `%` is not followed by two hexadecimal digits. */
  | "malformed"

class FormPayload {
  #state: State = "name"
  #matched = 0
  /** Characters of an escape that were in earlier blocks: -1 none, -2 the percent sign, else the value of the first digit. */
  #escape = -1

  /** True when the field is present and valid, as far as the form has been read. */
  get isDecoded(): boolean {
    return (this.#state === "payload" && this.#escape === -1) || this.#state === "after"
  }

  /** Returns the decoded bytes of the field in the next block of the form; overwrites the block. */
  decode(block: Uint8Array): Uint8Array {
    let at = 0
    while (at < block.length && this.#state !== "payload") {
      if (this.#state === "after" || this.#state === "malformed") return block.subarray(0, 0)
      at = this.#state === "name" ? this.#readName(block, at) : this.#skipField(block, at)
    }
    return this.#decodeValue(block, at)
  }

  #readName(block: Uint8Array, from: number): number {
    let at = from
    while (at < block.length && this.#matched < name.length && block[at] === name[this.#matched]) {
      at++
      this.#matched++
    }
    if (this.#matched === name.length) this.#state = "payload"
    else if (at < block.length) this.#state = "other"
    return at
  }

  #skipField(block: Uint8Array, from: number): number {
    const end = block.indexOf(ampersand, from)
    if (end === -1) return block.length
    this.#state = "name"
    this.#matched = 0
    return end + 1
  }

  #decodeValue(block: Uint8Array, from: number): Uint8Array {
    const end = block.indexOf(ampersand, from)
    const stop = end === -1 ? block.length : end
    let escape = this.#escape
    let length = 0
    for (let at = from; at < stop; at++) {
      const byte = block[at]!
      if (escape === -1) {
        if (byte === percent) escape = -2
        else block[length++] = byte === plus ? space : byte
        continue
      }
      const value = digits[byte]!
      if (value > 15) {
        this.#state = "malformed"
        return block.subarray(0, 0)
      }
      if (escape === -2) escape = value
      else {
        block[length++] = (escape << 4) | value
        escape = -1
      }
    }
    this.#escape = escape
    if (end !== -1) this.#state = escape === -1 ? "after" : "malformed"
    return block.subarray(0, length)
  }
}

/** Bytes that are hashed or decoded between two yields; takes well under a millisecond. */
export const stepBytes = 256 * 1024

type Blocks = ReadonlyArray<Uint8Array>

const isForm = (headers: Headers): boolean =>
  headers["content-type"]?.trimStart().toLowerCase().startsWith("application/x-www-form-urlencoded") ?? false

/** Splits the blocks into pieces of at most `stepBytes`. */
function* pieces(blocks: Blocks): Generator<Uint8Array, void, void> {
  for (const block of blocks) {
    for (let at = 0; at < block.length; at += stepBytes) yield block.subarray(at, at + stepBytes)
  }
}

/** Returns a counter of bytes whose result is true once per `stepBytes`. */
const makeStepCounter = () => {
  let spent = 0
  return (bytes: number): boolean => {
    spent += bytes
    if (spent < stepBytes) return false
    spent = 0
    return true
  }
}

function* decodeForm(form: Blocks): Generator<void, Blocks | undefined, void> {
  const payload = new FormPayload()
  const decoded: Array<Uint8Array> = []
  const isStepOver = makeStepCounter()
  for (const piece of pieces(form)) {
    const part = payload.decode(piece)
    if (part.length > 0) decoded.push(part)
    if (isStepOver(piece.length)) yield
  }
  return payload.isDecoded ? decoded : undefined
}

export class DeliveryBody {
  readonly headers: Headers
  #blocks: Blocks | undefined
  #isEncoded: boolean

  /** Takes ownership of the blocks: those of a form are overwritten when it is decoded. */
  constructor(headers: Headers, blocks: Blocks) {
    this.headers = headers
    this.#blocks = blocks
    this.#isEncoded = isForm(headers)
  }

  /** Returns the JSON: the body, or the decoded `payload` field of a form. Undefined for a form without a valid one. */
  *json(): Generator<void, Uint8Array | undefined, void> {
    yield* this.#decode()
    const [first] = this.#blocks ?? []
    return this.#blocks?.length === 1 ? first : this.#blocks && Buffer.concat(this.#blocks)
  }

  /**
   * Returns the secrets whose signature matches. Each distinct secret costs one HMAC; where the host signs the JSON in a form,
   * the form is decoded first.
   */
  *signedBy(
    { signature, signs }: ForgeWebhook,
    secrets: Iterable<Redacted.Redacted>,
    now: number
  ): Generator<void, ReadonlySet<string>, void> {
    const matching = new Set<string>()
    const claim = signature(this.headers)
    if (claim === undefined) return matching
    if (signs === "json") yield* this.#decode()
    if (this.#blocks === undefined) return matching
    const isStepOver = makeStepCounter()
    for (const secret of new Map([...secrets].map((each) => [Redacted.value(each), each])).values()) {
      const check = claim(secret, now)
      if (check === true) matching.add(Redacted.value(secret))
      if (typeof check === "boolean") continue
      for (const piece of pieces(this.#blocks)) {
        check.update(piece)
        if (isStepOver(piece.length)) yield
      }
      if (check.matches()) matching.add(Redacted.value(secret))
    }
    return matching
  }

  *#decode(): Generator<void, void, void> {
    if (!this.#isEncoded || this.#blocks === undefined) return
    this.#blocks = yield* decodeForm(this.#blocks)
    this.#isEncoded = false
  }
}
