/**
 * How messages between runners go over the bus: those of one turn of the event loop together in one frame, a JSON array that begins with
 * the frame's number. The bus may lose a frame, and does not say so: a number that is missing ends the session. Pure but for the turn.
 */
import { NatsError } from "./NatsError.ts"

/** A frame is sent when it is this long, so that the other side can begin. */
const fullBytes = 64 * 1024

/** Brackets and the number. */
const overheadBytes = 32

export interface FrameWriter {
  /** Throws a NatsError `too_large` when the message alone is over the limit, and what JSON throws. */
  readonly push: (message: unknown) => void
}

/** `maxBytes` is the server's limit; `send` gets whole frames, in order. */
export const frameWriter = (maxBytes: () => number, send: (frame: string) => void): FrameWriter => {
  let parts = ""
  let bytes = 0
  let number = 0
  let isDue = false
  const flush = () => {
    if (bytes === 0) return
    const frame = `[${number}${parts}]`
    number += 1
    parts = ""
    bytes = 0
    send(frame)
  }
  return {
    push: (message) => {
      const text = JSON.stringify(message)
      const size = Buffer.byteLength(text) + 1
      const limit = maxBytes() - overheadBytes
      if (size > limit) throw tooLarge(size, limit)
      if (bytes + size > limit) flush()
      parts += `,${text}`
      bytes += size
      if (bytes > fullBytes) return flush()
      if (isDue) return
      isDue = true
      queueMicrotask(() => {
        isDue = false
        flush()
      })
    }
  }
}

export interface Frame {
  readonly number: number
  readonly messages: ReadonlyArray<unknown>
}

const decoder = new TextDecoder()

/** Undefined for what is no frame. */
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
