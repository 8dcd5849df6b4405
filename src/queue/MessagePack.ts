/**
 * Encodes MessagePack for the queue's scripts in Redis (cmsgpack): a script reads and writes it in a fraction of the time of as many
 * strings in Redis' protocol. It only supports the types of the queue's records, because with a general library packing was a quarter of a
 * node's CPU time for a queue entry.
 */

export type Packable = Value<string>
type Value<Text> = boolean | number | Text | ReadonlyArray<Value<Text>>

/** Packs values in sequence. */
export const pack = (values: ReadonlyArray<Packable>): Buffer => {
  const writer = new Writer()
  for (const value of values) writer.value(value)
  return writer.packed()
}

/** Throws if the input is not one complete value. */
export const unpack = (bytes: Buffer): Packable => whole(new Reader(bytes, textAt))

/** Decodes like `unpack`, with texts as slices of the input, which may contain any bytes. */
export const unpackBytes = (bytes: Buffer): Value<Buffer> => whole(new Reader(bytes, bytesAt))

/** Decodes the first values of a packed list, which may have more. Throws if it has fewer. */
export const unpackFirst = (bytes: Buffer, count: number): ReadonlyArray<Packable> => {
  const reader = new Reader(bytes, textAt)
  const size = reader.size()
  if (size < count) throw new Error(`a packed list of ${size} values, not ${count}`)
  return reader.values(count)
}

const whole = <Text>(reader: Reader<Text>): Value<Text> => {
  const value = reader.value()
  if (reader.left > 0) throw new Error(`${reader.left} bytes after a packed value`)
  return value
}

const textAt = (bytes: Buffer, from: number, to: number): string => bytes.toString("utf8", from, to)
const bytesAt = (bytes: Buffer, from: number, to: number): Buffer => bytes.subarray(from, to)

/** Length up to which characters are written one by one, because a call of Node for a text costs as much. */
const short = 24
const two32 = 2 ** 32

/** Returns the number of bytes before a text of this length. */
const headOf = (length: number): number => (length < 32 ? 1 : length < 0x100 ? 2 : length < 0x10000 ? 3 : 5)

/** Shared buffer: calls are synchronous, and results are copied out. */
let space = Buffer.allocUnsafe(1 << 14)

class Writer {
  #at = 0

  packed(): Buffer {
    return Buffer.from(space.subarray(0, this.#at))
  }

  value(value: Packable): void {
    if (typeof value === "string") return this.#text(value)
    if (typeof value === "number") return this.#number(value)
    if (typeof value === "boolean") return this.#byte(value ? 0xc3 : 0xc2)
    this.#size(value.length)
    for (const one of value) this.value(one)
  }

  #reserve(bytes: number): void {
    const needed = this.#at + bytes
    if (needed <= space.length) return
    const larger = Buffer.allocUnsafe(needed * 2)
    space.copy(larger, 0, 0, this.#at)
    space = larger
  }

  #byte(byte: number): void {
    this.#reserve(1)
    space[this.#at++] = byte
  }

  #size(size: number): void {
    if (size < 16) return this.#byte(0x90 | size)
    this.#reserve(5)
    if (size < 0x10000) {
      space[this.#at] = 0xdc
      this.#at = space.writeUInt16BE(size, this.#at + 1)
    } else {
      space[this.#at] = 0xdd
      this.#at = space.writeUInt32BE(size, this.#at + 1)
    }
  }

  #number(value: number): void {
    if (value >= 0 && value < 128 && Number.isInteger(value)) return this.#byte(value)
    this.#reserve(9)
    if (!Number.isSafeInteger(value)) {
      space[this.#at] = 0xcb
      this.#at = space.writeDoubleBE(value, this.#at + 1)
    } else if (value >= 0 && value < two32) {
      space[this.#at] = 0xce
      this.#at = space.writeUInt32BE(value, this.#at + 1)
    } else {
      space[this.#at] = 0xd3
      space.writeInt32BE(Math.floor(value / two32), this.#at + 1)
      this.#at = space.writeUInt32BE(value >>> 0, this.#at + 5)
    }
  }

  #text(text: string): void {
    this.#reserve(5 + 3 * text.length)
    if (text.length < short && this.#ascii(text)) return
    const head = headOf(text.length)
    const length = space.write(text, this.#at + head)
    const needed = headOf(length)
    if (needed !== head) space.copyWithin(this.#at + needed, this.#at + head, this.#at + head + length)
    if (needed === 1) space[this.#at] = 0xa0 | length
    else if (needed === 2) {
      space[this.#at] = 0xd9
      space[this.#at + 1] = length
    } else if (needed === 3) {
      space[this.#at] = 0xda
      space.writeUInt16BE(length, this.#at + 1)
    } else {
      space[this.#at] = 0xdb
      space.writeUInt32BE(length, this.#at + 1)
    }
    this.#at += needed + length
  }

  /** Writes a short ASCII text. Returns false and writes nothing for other texts. */
  #ascii(text: string): boolean {
    const from = this.#at + 1
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i)
      if (code > 127) return false
      space[from + i] = code
    }
    space[this.#at] = 0xa0 | text.length
    this.#at = from + text.length
    return true
  }
}

class Reader<Text> {
  readonly #bytes: Buffer
  readonly #read: (bytes: Buffer, from: number, to: number) => Text
  #at = 0

  constructor(bytes: Buffer, read: (bytes: Buffer, from: number, to: number) => Text) {
    this.#bytes = bytes
    this.#read = read
  }

  get left(): number {
    return this.#bytes.length - this.#at
  }

  value(): Value<Text> {
    const kind = this.#byte()
    if (kind < 0x80) return kind
    if (kind < 0x90) throw unknown(kind)
    if (kind < 0xa0) return this.values(kind & 0x0f)
    if (kind < 0xc0) return this.#text(kind & 0x1f)
    if (kind >= 0xe0) return kind - 0x100
    switch (kind) {
      case 0xc2:
        return false
      case 0xc3:
        return true
      case 0xca:
        return this.#bytes.readFloatBE(this.#skip(4))
      case 0xcb:
        return this.#bytes.readDoubleBE(this.#skip(8))
      case 0xcc:
        return this.#byte()
      case 0xcd:
        return this.#uint16()
      case 0xce:
        return this.#uint32()
      case 0xcf:
        return this.#uint32() * two32 + this.#uint32()
      case 0xd0:
        return this.#bytes.readInt8(this.#skip(1))
      case 0xd1:
        return this.#bytes.readInt16BE(this.#skip(2))
      case 0xd2:
        return this.#bytes.readInt32BE(this.#skip(4))
      case 0xd3:
        return this.#bytes.readInt32BE(this.#skip(4)) * two32 + this.#uint32()
      case 0xd9:
        return this.#text(this.#byte())
      case 0xda:
        return this.#text(this.#uint16())
      case 0xdb:
        return this.#text(this.#uint32())
      case 0xdc:
        return this.values(this.#uint16())
      case 0xdd:
        return this.values(this.#uint32())
      default:
        throw unknown(kind)
    }
  }

  /** Returns the number of values of the list that starts here. */
  size(): number {
    const kind = this.#byte()
    if (kind >= 0x90 && kind < 0xa0) return kind & 0x0f
    if (kind === 0xdc) return this.#uint16()
    if (kind === 0xdd) return this.#uint32()
    throw unknown(kind)
  }

  values(count: number): ReadonlyArray<Value<Text>> {
    const values: Array<Value<Text>> = []
    for (let i = 0; i < count; i++) values.push(this.value())
    return values
  }

  /** Skips bytes and returns their start. */
  #skip(bytes: number): number {
    const at = this.#at
    this.#at += bytes
    if (this.#at > this.#bytes.length) throw new Error("a packed value that is cut off")
    return at
  }

  #byte(): number {
    return this.#bytes[this.#skip(1)] ?? 0
  }
  #uint16(): number {
    return this.#bytes.readUInt16BE(this.#skip(2))
  }
  #uint32(): number {
    return this.#bytes.readUInt32BE(this.#skip(4))
  }

  #text(length: number): Text {
    const from = this.#skip(length)
    return this.#read(this.#bytes, from, from + length)
  }
}

const unknown = (kind: number): Error => new Error(`a packed value of the unknown kind ${kind}`)
