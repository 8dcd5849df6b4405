/**
 * Aborts a request when its server is silent for too long. A local server works through its queue: before the first byte of a
 * response, the server is silent only if it sends nothing on any connection of this process.
 */
import { SilentProvider } from "../calls/Silence.ts"
import type { SilenceLimits } from "../calls/Silence.ts"

/** Time of the last byte that a local server sent to this process. */
export class ServerActivity {
  lastAt = Number.NEGATIVE_INFINITY

  note(): void {
    this.lastAt = performance.now()
  }
}

export class SilenceWatch {
  readonly #controller = new AbortController()
  readonly #limits: SilenceLimits
  readonly #activity: ServerActivity | undefined
  #timer: NodeJS.Timeout

  /** `activity` is that of a local server. */
  constructor(limits: SilenceLimits, activity?: ServerActivity) {
    this.#limits = limits
    this.#activity = activity
    this.#timer = this.#awaitFirst(performance.now())
  }
  get signal(): AbortSignal {
    return this.#controller.signal
  }
  /** Waits for the next bytes. Only then silence counts, and not while the reader is busy. */
  listen(): void {
    clearTimeout(this.#timer)
    const { betweenMillis } = this.#limits
    this.#timer = setTimeout(() => this.#abort(betweenMillis), betweenMillis)
  }
  /** Bytes arrived. */
  received(): void {
    clearTimeout(this.#timer)
    this.#activity?.note()
  }
  end(): void {
    clearTimeout(this.#timer)
  }
  /** Ends the watch and throws the error, or the silence that caused it. */
  fail(error: unknown): never {
    this.end()
    throw this.signal.aborted ? this.signal.reason : error
  }
  #abort(millis: number): void {
    this.#controller.abort(new SilentProvider(millis))
  }
  #awaitFirst(since: number): NodeJS.Timeout {
    const { firstMillis } = this.#limits
    return setTimeout(
      () => {
        const lastAt = this.#activity?.lastAt ?? since
        if (lastAt > since) this.#timer = this.#awaitFirst(lastAt)
        else this.#abort(firstMillis)
      },
      Math.max(0, since + firstMillis - performance.now())
    )
  }
}
