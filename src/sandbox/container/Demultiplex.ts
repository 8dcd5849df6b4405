/**
 * Separates the output of an attached container: each frame has a header of 8 bytes, with the stream (1 is stdout, 2 is stderr) and the
 * length of its content. A reader that is slow delays the container.
 */
import { once } from "node:events"
import { PassThrough } from "node:stream"
import type { Readable } from "node:stream"

const headerBytes = 8

interface Frame {
  readonly stream: number
  readonly content: Buffer
}

/** Parses frames that arrive in arbitrary chunks. Keeps less than one header; content is passed on as it arrives. */
export class FrameParser {
  #header = Buffer.alloc(0)
  #left = 0
  #stream = 0

  parse(chunk: Buffer): ReadonlyArray<Frame> {
    const frames: Array<Frame> = []
    let rest = chunk
    while (rest.length > 0) {
      if (this.#left === 0) {
        const missing = headerBytes - this.#header.length
        this.#header = Buffer.concat([this.#header, rest.subarray(0, missing)])
        rest = rest.subarray(missing)
        if (this.#header.length < headerBytes) break
        this.#stream = this.#header.readUInt8(0)
        this.#left = this.#header.readUInt32BE(4)
        this.#header = Buffer.alloc(0)
        continue
      }
      const content = rest.subarray(0, this.#left)
      this.#left -= content.length
      rest = rest.subarray(content.length)
      frames.push({ stream: this.#stream, content })
    }
    return frames
  }
}

interface ContainerOutput {
  readonly stdout: PassThrough
  readonly stderr: PassThrough
  /** Ends both streams, also when the engine does not. */
  readonly end: () => void
}

export const demultiplex = (attached: Readable): ContainerOutput => {
  const stdout = new PassThrough()
  const stderr = new PassThrough()
  const end = () => {
    stdout.end()
    stderr.end()
  }
  const pump = async () => {
    const parser = new FrameParser()
    for await (const chunk of attached)
      for (const { content, stream } of parser.parse(chunk)) {
        const target = stream === 2 ? stderr : stdout
        if (target.writableEnded) return
        if (!target.write(content)) await Promise.race([once(target, "drain"), once(target, "close")])
      }
  }
  // A connection that breaks is the end of the output; why it broke shows in the end of the container.
  void pump()
    .catch(() => {})
    .finally(end)
  return { stdout, stderr, end }
}
