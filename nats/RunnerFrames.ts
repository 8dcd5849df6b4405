/**
 * Batches the messages between runners: those of one iteration of the event loop form one frame, a JSON array that begins with the frame's
 * number. The bus may lose a frame without a report: a missing number ends the session. Pure except for the microtask that sends.
 */
import { NatsError } from "./NatsError.ts"

/** Size at which a frame is sent without further delay, so that the receiver can start. */
const fullBytes = 64 * 1024

/** Bytes for brackets and the number. */
const overheadBytes = 32

export interface FrameWriter {
  /** Throws a NatsError `too_large` if the message alone is over the limit, and errors of JSON. */
  readonly push: (message: unknown) => void
}

/** Collects messages that are not sent yet, and the number of their frame. */
class FrameBuffer implements FrameWriter {
  readonly #maxBytes: () => number
  readonly #send: (frame: string) => void
  #parts = ""
  #bytes = 0
  #number = 0
  #isScheduled = false

  constructor(maxBytes: () => number, send: (frame: string) => void) {
    this.#maxBytes = maxBytes
    this.#send = send
  }

  readonly push = (message: unknown): void => {
    const text = JSON.stringify(message)
    const size = Buffer.byteLength(text) + 1
    const limit = this.#maxBytes() - overheadBytes
    if (size > limit) throw tooLarge(size, limit)
    if (this.#bytes + size > limit) this.#flush()
    this.#parts += `,${text}`
    this.#bytes += size
    if (this.#bytes > fullBytes) return this.#flush()
    if (this.#isScheduled) return
    this.#isScheduled = true
    queueMicrotask(() => {
      this.#isScheduled = false
      this.#flush()
    })
  }

  #flush(): void {
    if (this.#bytes === 0) return
    const frame = `[${this.#number}${this.#parts}]`
    this.#number += 1
    this.#parts = ""
    this.#bytes = 0
    this.#send(frame)
  }
}

/** Creates a writer. `maxBytes` is the server's limit; `send` gets whole frames, in order. */
export const frameWriter = (maxBytes: () => number, send: (frame: string) => void): FrameWriter =>
  new FrameBuffer(maxBytes, send)

export interface Frame {
  readonly number: number
  readonly messages: ReadonlyArray<unknown>
}

const decoder = new TextDecoder()

/** Returns undefined for data that is not a frame. */
export const readFrame = (data: Uint8Array): Frame | undefined => {
  try {
    const parts: unknown = JSON.parse(decoder.decode(data))
    if (!Array.isArray(parts)) return undefined
    const [number, ...messages] = parts
    return typeof number === "number" ? { number, messages } : undefined
  } catch {
    return undefined
  }
}

const tooLarge = (size: number, limit: number): NatsError =>
  new NatsError({
    reason: "too_large",
    message: `a message between nodes has ${size} bytes, the server takes ${limit}; raise max_payload (nats/nats-server.conf sets 8 MB) or send less`
  })
