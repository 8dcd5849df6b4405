/**
 * Reads request bodies within limits. The first 64 KiB of each body always fit, because connections are limited. Further bytes share a
 * budget, of which one client gets a part, so that neither many large bodies nor one client use up the memory or block small ones. A body
 * over its limit is refused by its declared length before it is read, or aborted while it is read. A body that arrives too slowly is
 * aborted, and when the budget is exhausted the slowest one is.
 */
import type { IncomingMessage } from "node:http"

interface BodyLimits {
  /** Bytes beyond the first 64 KiB of each body, over all bodies that are being read or handled. */
  readonly totalBytes: number
  /** The same limit for one client. */
  readonly clientBytes: number
  /** Bytes per second, averaged from the start of the body; 0: no minimum. */
  readonly minRate: number
  /** Time in milliseconds for which a body may be slower than that. */
  readonly graceMillis: number
}

export type Body =
  /** The bytes count towards the limits until `release`. */
  | { readonly _tag: "Read"; readonly blocks: ReadonlyArray<Uint8Array>; readonly release: () => void }
  | { readonly _tag: "TooLarge" }
  | { readonly _tag: "Busy" }
  | { readonly _tag: "TooSlow" }
  /** The sender disconnected, or the request timed out and the server responded. */
  | { readonly _tag: "Aborted" }

/**
 * Bytes beyond the first 64 KiB of bodies that are read per iteration of the event loop; further bytes wait for the next one. The system
 * delivers megabytes of each connection together, so that a dozen large bodies would otherwise block everything else.
 */
const turnBytes = 1024 * 1024
/** Bytes of every body that always fit; connections are limited, so their sum is. */
export const smallBytes = 64 * 1024
/** Smaller chunks are merged: an object per chunk of one byte would take hundreds of times its size. */
const chunkBytes = 16 * 1024
const sweepMillis = 1000

/** Returns whether the declared length alone exceeds the limit. */
export const declaresMore = (request: IncomingMessage, limit: number): boolean => {
  const declared = request.headers["content-length"]
  return declared !== undefined && Number(declared) > limit
}

/** Chunks of a body, merged to a minimum size. */
class Chunks {
  readonly #chunks: Array<Buffer> = []
  #block = Buffer.alloc(0)
  #filled = 0
  size = 0

  add(chunk: Buffer): void {
    this.size += chunk.length
    if (chunk.length >= chunkBytes || this.size === chunk.length) {
      this.#flush()
      this.#chunks.push(chunk)
      return
    }
    let rest = chunk
    while (rest.length > 0) {
      if (this.#filled === this.#block.length) {
        this.#flush()
        this.#block = Buffer.allocUnsafeSlow(chunkBytes)
      }
      const copied = rest.copy(this.#block, this.#filled)
      this.#filled += copied
      rest = rest.subarray(copied)
    }
  }

  #flush(): void {
    if (this.#filled > 0) this.#chunks.push(this.#block.subarray(0, this.#filled))
    this.#block = this.#block.subarray(this.#filled)
    this.#filled = 0
  }

  get blocks(): ReadonlyArray<Buffer> {
    this.#flush()
    return this.#chunks
  }
}

interface Reading {
  readonly client: string
  readonly startedAt: number
  readonly size: () => number
  readonly end: (body: Body) => void
}

const rateOf = ({ size, startedAt }: Reading, now: number): number => (size() * 1000) / Math.max(1, now - startedAt)

export class BodyReader {
  readonly #limits: BodyLimits
  readonly #readings = new Set<Reading>()
  readonly #byClient = new Map<string, number>()
  #total = 0
  readonly #paused = new Set<IncomingMessage>()
  #turnBytes = 0
  #sweeper: NodeJS.Timeout | undefined

  constructor(limits: BodyLimits) {
    this.#limits = limits
  }

  /**
   * Resolves once; never rejects. After any result but `Read` the rest of the request is unread. `proceed` is called when the body will be
   * read, for senders that wait for it.
   */
  read(request: IncomingMessage, limit: number, client: string, proceed: () => void): Promise<Body> {
    if (declaresMore(request, limit)) return Promise.resolve({ _tag: "TooLarge" })
    proceed()
    return new Promise((resolve) => {
      const chunks = new Chunks()
      const finish = (body: Body) => {
        this.#readings.delete(reading)
        this.#paused.delete(request)
        request.off("data", onData).off("end", onEnd).off("close", onClose).off("error", onClose)
        if (body._tag !== "Read") {
          this.#hold(client, -large(chunks.size))
          request.pause()
        }
        resolve(body)
      }
      const onData = (chunk: Buffer) => {
        if (chunks.size + chunk.length > limit) return finish({ _tag: "TooLarge" })
        const more = large(chunks.size + chunk.length) - large(chunks.size)
        if (more > 0 && !this.#hasRoom(reading, more)) return finish({ _tag: "Busy" })
        this.#hold(client, more)
        chunks.add(chunk)
        this.#pace(request, more)
      }
      const onEnd = () => {
        let held = large(chunks.size)
        const release = () => {
          this.#hold(client, -held)
          held = 0
        }
        finish({ _tag: "Read", blocks: chunks.blocks, release })
      }
      const onClose = () => finish({ _tag: "Aborted" })
      const reading: Reading = { client, startedAt: performance.now(), size: () => chunks.size, end: finish }
      this.#readings.add(reading)
      this.#sweeper ??= setInterval(() => this.#sweep(), Math.min(sweepMillis, this.#limits.graceMillis)).unref()
      request.on("data", onData).on("end", onEnd).on("close", onClose).on("error", onClose)
    })
  }

  #pace(request: IncomingMessage, bytes: number): void {
    if (bytes === 0) return
    if (this.#turnBytes === 0) setImmediate(this.#nextTurn)
    this.#turnBytes += bytes
    if (this.#turnBytes < turnBytes) return
    request.pause()
    this.#paused.add(request)
  }

  readonly #nextTurn = (): void => {
    this.#turnBytes = 0
    const paused = [...this.#paused]
    this.#paused.clear()
    for (const request of paused) request.resume()
  }

  #hold(client: string, bytes: number): void {
    if (bytes === 0) return
    this.#total += bytes
    const held = (this.#byClient.get(client) ?? 0) + bytes
    if (held === 0) this.#byClient.delete(client)
    else this.#byClient.set(client, held)
  }

  /** Returns whether this number of further bytes fits, if necessary by aborting the slowest body that uses the budget. */
  #hasRoom(reading: Reading, more: number): boolean {
    const { clientBytes, totalBytes } = this.#limits
    if ((this.#byClient.get(reading.client) ?? 0) + more > clientBytes) return false
    while (this.#total + more > totalBytes) {
      const slowest = this.#slowest(reading)
      if (slowest === undefined) return false
      slowest.end({ _tag: "Busy" })
    }
    return true
  }

  /** Returns the slowest body that is slower than this one and has had a second of time. */
  #slowest(than: Reading): Reading | undefined {
    const now = performance.now()
    let slowest: Reading | undefined
    let lowest = rateOf(than, now)
    for (const reading of this.#readings) {
      if (reading === than || large(reading.size()) === 0 || now - reading.startedAt < sweepMillis) continue
      const rate = rateOf(reading, now)
      if (rate >= lowest) continue
      slowest = reading
      lowest = rate
    }
    return slowest
  }

  #sweep(): void {
    const now = performance.now()
    const { graceMillis, minRate } = this.#limits
    for (const reading of this.#readings) {
      if (now - reading.startedAt > graceMillis && rateOf(reading, now) < minRate) reading.end({ _tag: "TooSlow" })
    }
    if (this.#readings.size > 0) return
    clearInterval(this.#sweeper)
    this.#sweeper = undefined
  }
}

const large = (size: number): number => Math.max(0, size - smallBytes)
