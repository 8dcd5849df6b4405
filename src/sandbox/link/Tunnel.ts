/**
 * Connections over one stream of bytes, for sandboxes that share neither a network nor sockets with the service. Both ends run it:
 * the service, and a program inside of the sandbox, into which its text is copied. So it imports node's own modules only.
 *
 * ```
 * frame   type (1 byte) · connection (4) · length of the content (2) · content
 * open    a new connection; content: its target (1 byte). Only the inside opens
 * data    content of a connection, at most what the other end has granted
 * grant   content: number of bytes (4) that the other end may send in addition to `window`
 * end     no more data from this end
 * close   the connection has ended in both directions
 * ```
 */
import { Duplex } from "node:stream"
import type { Readable, Writable } from "node:stream"

/** Destinations of connections. The first two are sockets of the service, the others belong to the sandbox's program. */
export const targets = { model: 0, tools: 1, stdin: 2, stdout: 3, stderr: 4, repository: 5 } as const
export type TunnelTarget = keyof typeof targets

const types = { open: 1, data: 2, grant: 3, end: 4, close: 5 }
const headerBytes = 7
/** Bytes that a connection may send before the other end has taken any. */
export const window = 65_536
const maxContent = 16_384
/** Bytes that may wait for an end that does not read. What is granted on all connections is less. */
const maxWaiting = 33_554_432
/** Connections at a time. */
const maxConnections = 300

interface Frame {
  readonly type: number
  readonly id: number
  readonly content: Buffer
}

/** Parses frames that arrive in arbitrary chunks. Keeps less than one frame, copied: many small chunks would be held one by one. */
export class TunnelFrames {
  readonly #frame = Buffer.alloc(headerBytes + maxContent)
  #held = 0
  /** Bytes of the next frame, as far as its header has arrived. */
  #needed = headerBytes

  /** Throws if a frame is longer than any end sends. */
  parse(chunk: Buffer): ReadonlyArray<Frame> {
    const frames: Array<Frame> = []
    let at = 0
    while (at < chunk.length) {
      const taken = chunk.copy(this.#frame, this.#held, at, at + this.#needed - this.#held)
      at += taken
      this.#held += taken
      if (this.#held < this.#needed) break
      if (this.#needed === headerBytes) {
        const length = this.#frame.readUInt16BE(5)
        if (length > maxContent) throw new Error(`a frame of ${length} bytes is too long`)
        this.#needed += length
        if (length > 0) continue
      }
      frames.push(this.#take())
    }
    return frames
  }

  #take(): Frame {
    const content = Buffer.from(this.#frame.subarray(headerBytes, this.#needed))
    this.#held = 0
    this.#needed = headerBytes
    return { type: this.#frame.readUInt8(0), id: this.#frame.readUInt32BE(1), content }
  }
}

/** One connection. Takes no more from its writer than the other end has granted. */
class Connection extends Duplex {
  readonly #id: number
  readonly #send: (type: number, id: number, content?: Buffer) => void
  #granted = window
  #taken = 0
  #received = 0
  #waiting: { readonly chunk: Buffer; readonly done: () => void } | undefined

  constructor(id: number, send: (type: number, id: number, content?: Buffer) => void) {
    super({ allowHalfOpen: true })
    this.#id = id
    this.#send = send
    this.on("error", () => {})
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    const now = Math.min(chunk.length, this.#granted, maxContent)
    if (now > 0) this.#send(types.data, this.#id, chunk.subarray(0, now))
    this.#granted -= now
    if (now === chunk.length) return done()
    const rest = chunk.subarray(now)
    if (this.#granted > 0) return this._write(rest, "binary", done)
    this.#waiting = { chunk: rest, done }
  }

  override _final(done: () => void): void {
    this.#send(types.end, this.#id)
    done()
  }

  override _read(): void {
    this.#grant()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#send(types.close, this.#id)
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.done()
    done(error)
  }

  /** Throws if the other end sends more than it may. */
  receive(content: Buffer): void {
    this.#received += content.length
    if (this.#received > window) throw new Error("a connection sends more than it may")
    if (this.destroyed || this.readableEnded) return
    this.#taken += content.length
    if (this.push(content)) this.#grant()
  }

  grant(bytes: number): void {
    this.#granted = Math.min(this.#granted + bytes, window)
    const waiting = this.#waiting
    this.#waiting = undefined
    if (waiting !== undefined) this._write(waiting.chunk, "binary", waiting.done)
  }

  #grant(): void {
    if (this.#taken === 0) return
    const content = Buffer.alloc(4)
    content.writeUInt32BE(this.#taken)
    this.#received -= this.#taken
    this.#taken = 0
    this.#send(types.grant, this.#id, content)
  }
}

const isTarget = (name: string): name is TunnelTarget => Object.hasOwn(targets, name)
const names = Object.keys(targets).filter(isTarget)
const findTarget = (code: number | undefined): TunnelTarget | undefined => names.find((name) => targets[name] === code)

/** One end. It ends with the stream, and with the first violation of the form of frames. */
export class Tunnel {
  readonly #connections = new Map<number, Connection>()
  readonly #output: Writable
  readonly #accept: (target: TunnelTarget, connection: Duplex) => void
  readonly #end: (problem: string) => void
  #last = 0

  /** `accept` gets each connection that the other end opens. `onEnd` is called once. */
  constructor(
    link: { readonly input: Readable; readonly output: Writable },
    accept: (target: TunnelTarget, connection: Duplex) => void,
    onEnd: (problem: string | undefined) => void
  ) {
    this.#output = link.output
    this.#accept = accept
    const parser = new TunnelFrames()
    let isOver = false
    const end = (problem?: string) => {
      if (isOver) return
      isOver = true
      for (const connection of this.#connections.values()) connection.destroy()
      this.#connections.clear()
      onEnd(problem)
    }
    this.#end = (problem) => {
      end(problem)
      link.input.destroy()
    }
    link.output.on("error", ({ message }) => end(message))
    link.input
      .on("data", (chunk: Buffer) => {
        if (isOver) return
        try {
          for (const frame of parser.parse(chunk)) this.#receive(frame)
        } catch (cause) {
          this.#end(String(cause))
        }
      })
      .on("error", ({ message }) => end(message))
      .on("close", () => end())
      .on("end", () => end())
  }

  open(target: TunnelTarget): Duplex {
    const id = ++this.#last
    const connection = this.#add(id)
    this.#send(types.open, id, Buffer.from([targets[target]]))
    return connection
  }

  #add(id: number): Connection {
    const connection = new Connection(id, (type, of, content) => {
      // What is closed here is already forgotten.
      if (this.#connections.has(of)) this.#send(type, of, content)
      if (type === types.close) this.#connections.delete(of)
    })
    this.#connections.set(id, connection)
    return connection
  }

  #send(type: number, id: number, content: Buffer = Buffer.alloc(0)): void {
    if (this.#output.writableEnded || this.#output.destroyed) return
    // Frames that cause others, which nothing grants, may come from an end that does not read.
    if (this.#output.writableLength > maxWaiting) return this.#end("its other end does not read")
    const header = Buffer.alloc(headerBytes)
    header.writeUInt8(type, 0)
    header.writeUInt32BE(id, 1)
    header.writeUInt16BE(content.length, 5)
    this.#output.write(content.length === 0 ? header : Buffer.concat([header, content]))
  }

  #receive({ content, id, type }: Frame): void {
    const connection = this.#connections.get(id)
    if (type === types.open) {
      const target = findTarget(content[0])
      if (connection !== undefined || target === undefined) throw new Error("a connection is opened wrongly")
      if (this.#connections.size < maxConnections) return this.#accept(target, this.#add(id))
      this.#send(types.close, id)
    } else if (type === types.data) connection?.receive(content)
    else if (type === types.grant) connection?.grant(content.length === 4 ? content.readUInt32BE() : 0)
    else if (type === types.end) connection?.push(null)
    else if (type === types.close) connection?.destroy()
    else throw new Error(`frames of type ${type} do not exist`)
  }
}

export const startTunnel = (...parts: ConstructorParameters<typeof Tunnel>): Tunnel => new Tunnel(...parts)
