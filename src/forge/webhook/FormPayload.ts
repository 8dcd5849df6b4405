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

export class FormPayload {
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
