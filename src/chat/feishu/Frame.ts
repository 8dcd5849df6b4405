/**
 * Codec of the frames of Feishu's long connection: protocol buffers (proto2) with the fields 1 SeqID, 2 LogID, 3 service, 4 method,
 * 5 headers (1 key, 2 value), 6 payload_encoding, 7 payload_type, 8 payload, 9 LogIDNew. Unknown fields are skipped.
 */
export interface FeishuFrame {
  readonly seqId: bigint
  readonly logId: bigint
  readonly service: number
  /** 0: control (ping, pong), 1: data. */
  readonly method: number
  readonly headers: ReadonlyArray<readonly [key: string, value: string]>
  readonly payloadEncoding?: string | undefined
  readonly payloadType?: string | undefined
  readonly payload?: Uint8Array | undefined
  readonly logIdNew?: string | undefined
}

/** Upper bound for headers of one frame. */
const maxHeaders = 64

export const findHeader = (frame: FeishuFrame, key: string): string | undefined =>
  frame.headers.find(([name]) => name === key)?.[1]

class Reader {
  readonly #bytes: Uint8Array
  #at = 0
  failed = false

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.failed || this.#at >= this.#bytes.length
  }

  varint(): bigint {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#at++]
      if (byte === undefined) break
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return BigInt.asUintN(64, value)
    }
    this.failed = true
    return 0n
  }

  bytes(): Uint8Array {
    const length = Number(this.varint())
    if (this.failed || length > this.#bytes.length - this.#at) {
      this.failed = true
      return new Uint8Array()
    }
    return this.#bytes.subarray(this.#at, (this.#at += length))
  }

  text(): string {
    return Buffer.from(this.bytes()).toString("utf8")
  }

  skip(wire: number): void {
    if (wire === 0) this.varint()
    else if (wire === 2) this.bytes()
    else if (wire === 1 || wire === 5) this.#at += wire === 1 ? 8 : 4
    else this.failed = true
    if (this.#at > this.#bytes.length) this.failed = true
  }
}

const readHeader = (bytes: Uint8Array): readonly [string, string] | undefined => {
  const reader = new Reader(bytes)
  let [key, value] = ["", ""]
  while (!reader.isAtEnd) {
    const tag = Number(reader.varint())
    if (tag === 0x0a) key = reader.text()
    else if (tag === 0x12) value = reader.text()
    else reader.skip(tag & 7)
  }
  return reader.failed ? undefined : [key, value]
}

/** Undefined if the bytes are not a frame. */
export const decodeFrame = (bytes: Uint8Array): FeishuFrame | undefined => {
  const reader = new Reader(bytes)
  const headers: Array<readonly [string, string]> = []
  let frame: FeishuFrame = { seqId: 0n, logId: 0n, service: 0, method: 0, headers }
  while (!reader.isAtEnd) {
    const tag = Number(reader.varint())
    if (reader.failed) break
    if (tag === 0x08) frame = { ...frame, seqId: reader.varint() }
    else if (tag === 0x10) frame = { ...frame, logId: reader.varint() }
    else if (tag === 0x18) frame = { ...frame, service: Number(BigInt.asIntN(32, reader.varint())) }
    else if (tag === 0x20) frame = { ...frame, method: Number(BigInt.asIntN(32, reader.varint())) }
    else if (tag === 0x2a) {
      const header = readHeader(reader.bytes())
      if (header === undefined || headers.length >= maxHeaders) return undefined
      headers.push(header)
    } else if (tag === 0x32) frame = { ...frame, payloadEncoding: reader.text() }
    else if (tag === 0x3a) frame = { ...frame, payloadType: reader.text() }
    else if (tag === 0x42) frame = { ...frame, payload: Uint8Array.from(reader.bytes()) }
    else if (tag === 0x4a) frame = { ...frame, logIdNew: reader.text() }
    else reader.skip(tag & 7)
  }
  return reader.failed ? undefined : frame
}

const varint = (value: bigint): ReadonlyArray<number> => {
  const bytes: Array<number> = []
  let rest = BigInt.asUintN(64, value)
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80)
    rest >>= 7n
  }
  return [...bytes, Number(rest)]
}

const block = (tag: number, bytes: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([tag, ...varint(BigInt(bytes.length))]), bytes])
const textBlock = (tag: number, text: string | undefined): Buffer =>
  text === undefined ? Buffer.alloc(0) : block(tag, Buffer.from(text))

const numbers = ({ logId, method, seqId, service }: FeishuFrame): ReadonlyArray<Buffer> =>
  [seqId, logId, BigInt(service), BigInt(method)].map((value, at) => Buffer.from([(at + 1) * 8, ...varint(value)]))

export const encodeFrame = (frame: FeishuFrame): Uint8Array =>
  Buffer.concat([
    ...numbers(frame),
    ...frame.headers.map(([key, value]) => block(0x2a, Buffer.concat([textBlock(0x0a, key), textBlock(0x12, value)]))),
    textBlock(0x32, frame.payloadEncoding),
    textBlock(0x3a, frame.payloadType),
    frame.payload === undefined ? Buffer.alloc(0) : block(0x42, frame.payload),
    textBlock(0x4a, frame.logIdNew)
  ])

/** Returns the ping of a connection. */
export const pingFrame = (service: number): FeishuFrame => ({
  seqId: 0n,
  logId: 0n,
  service,
  method: 0,
  headers: [["type", "ping"]]
})
